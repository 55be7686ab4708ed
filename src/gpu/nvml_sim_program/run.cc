#include "gpu/nvml_sim_program/run.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "gpu/nvml_sim_program/child.h"
#include "gpu/nvml_sim_program/fake_root.h"
#include "gpu/nvml_sim_program/files.h"
#include "gpu/nvml_sim_program/fleet_file.h"
#include "gpu/nvml_sim_program/machine_state.h"
#include "gpu/nvml_sim_program/module_list.h"
#include "gpu/nvml_sim_state/state_file.h"

namespace berth::nvml_sim_cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraryFile = "libberth-nvml-sim.so";

/// This program and its library, which is next to it or in ../lib.
struct Programs {
  fs::path self;
  fs::path library;
};
Result<Programs> find_programs() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::kUnavailable, "/proc/self/exe: " + error.message());
  const fs::path beside = self.parent_path() / kLibraryFile;
  const fs::path in_lib = self.parent_path().parent_path() / "lib" / kLibraryFile;
  for (const fs::path& library : {beside, in_lib}) {
    if (fs::exists(library, error)) return Programs{self, library};
  }
  return fail(ErrorCode::kUnavailable,
              "wanted the library at " + beside.string() + " or " + in_lib.string() + ", found neither");
}

/// The value of a search path with a folder in front.
std::string with_folder_first(const char* variable, const fs::path& folder) {
  const char* const before = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): one thread
  return before == nullptr || *before == '\0' ? folder.string() : folder.string() + ":" + before;
}

Result<void> make_links(const fs::path& folder, const Programs& programs) {
  for (const char* const name : {"libnvidia-ml.so.1", "libnvidia-ml.so"}) {
    if (auto made = make_link(programs.library, folder / name); !made) return made;
  }
  return make_link(programs.self, folder / "nvidia-smi");
}

/// The path of the state: an option takes precedence over the fleet file, and without either it is in our folder.
fs::path state_path(const RunWords& words, const Fleet& fleet, const fs::path& folder) {
  const std::string named = words.state.value_or(fleet.state);
  return named.empty() ? folder / "state" : fs::absolute(named);
}

/// The child options of the program, with the environment of the machine.
ChildOptions child_of(const RunWords& words, const std::string& state, const fs::path& folder) {
  return {.command = words.command,
          .environment = {{"LD_LIBRARY_PATH", with_folder_first("LD_LIBRARY_PATH", folder)},
                          {"PATH", with_folder_first("PATH", folder)},
                          {kStateVariable, state},
                          {kBootIdVariable, boot_id_file(state)},
                          {kLocksVariable, locks_folder(state)}}};
}

/// Uses the machine of the state: a joined one may differ from the fleet file's.
Result<void> write_fake_root_of(const FakeRoot& root, const std::string& state) {
  if (auto made = make_folder(root.folder); !made) return made;
  const auto file = edges::SimStateFile::open(state);
  if (!file) return pass_on(file.error());
  Result<void> written;
  (*file)->read([&](const nvml_sim::MachineRecord& machine) { written = write_fake_root(root, machine); });
  return written;
}

}  // namespace

Result<int> run_on_machine(const RunWords& words) {
  if (words.state == "") return invalid("--state: wanted a path, found an empty one");
  const auto text = read_file(words.fleet);
  if (!text) return pass_on(text.error());
  const auto fleet = parse_fleet(*text, words.fleet);
  if (!fleet) return pass_on(fleet.error());
  const auto programs = find_programs();
  if (!programs) return pass_on(programs.error());

  const HeldSignals signals;
  const auto folder = PrivateFolder::make();
  if (!folder) return pass_on(folder.error());
  if (const auto made = make_links(folder->path(), *programs); !made) return pass_on(made.error());
  const std::string state = state_path(words, *fleet, folder->path());
  if (const auto booted = boot_or_join(state, *fleet->machine); !booted) {
    const bool is_from_file = !words.state && !fleet->state.empty();
    return is_from_file ? fail(booted.error().code, fleet->state_place + ": " + booted.error().message)
                        : pass_on(booted.error());
  }

  ChildOptions options = child_of(words, state, folder->path());
  if (!words.has_fake_root) return run_child(options, signals);
  const FakeRoot root{.folder = folder->path() / "root", .boot_id = boot_id_file(state)};
  if (const auto written = write_fake_root_of(root, state); !written) return pass_on(written.error());
  options.prepare = [&root] { return enter_fake_root(root); };
  options.serve = [&root](int descriptor) { serve_opening(descriptor, module_list_of(root)); };
  return run_child(options, signals);
}

}  // namespace berth::nvml_sim_cli
