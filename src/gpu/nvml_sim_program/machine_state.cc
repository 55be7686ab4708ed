#include "gpu/nvml_sim_program/machine_state.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>

#include "gpu/nvml_sim/reset.h"
#include "gpu/nvml_sim_program/files.h"
#include "gpu/nvml_sim_program/fleet_file.h"

namespace berth::nvml_sim_cli {

using edges::SimStateFile;
using nvml_sim::MachineRecord;

std::string boot_id_file(const std::string& state) { return state + ".boot_id"; }

std::string locks_folder(const std::string& state) { return state + ".locks"; }

std::int64_t now_us() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count();
}

Result<std::string> fresh_boot_id() {
  auto text = read_file("/proc/sys/kernel/random/uuid");
  if (text && text->ends_with('\n')) text->pop_back();
  return text;
}

namespace {

void begin(MachineRecord& machine, const std::string& boot_id, std::int64_t now) {
  nvml_sim::put_text(machine.boot_id, boot_id);
  machine.booted_at_us = now;
  for (nvml_sim::GpuRecord& gpu : machine.gpus) gpu.counters.energy_at_us = now;
}

/// Creates the state unless there is one. Two concurrent creators end up with the same one.
Result<void> make_unless_there(const std::string& state, const MachineRecord& machine) {
  const std::string ours = state + "." + std::to_string(::getpid());
  if (auto made = SimStateFile::create(ours, machine); !made) return made;
  const bool is_made = ::link(ours.c_str(), state.c_str()) == 0;
  const int number = errno;
  ::unlink(ours.c_str());
  if (is_made || number == EEXIST) return {};
  return fail(ErrorCode::kUnavailable, state + ": cannot be made: " + text_of_errno(number));
}

/// Creates the companions of the state, or repairs them.
Result<void> make_companions(SimStateFile& file) {
  constexpr mode_t kForEveryone = 01777;  // each user owns the files of the locks that it takes
  std::string boot_id;
  file.read([&](const MachineRecord& machine) { boot_id = machine.boot_id; });
  const std::string locks = locks_folder(file.path());
  if (const auto made = make_folder(locks); !made) return made;
  ::chmod(locks.c_str(), kForEveryone);  // refused if it belongs to another user, who has done it already
  const std::string ids = boot_id_file(file.path());
  return read_if_there(ids) == boot_id + "\n" ? Result<void>{} : write_file(ids, boot_id + "\n", Writers::kEveryone);
}

}  // namespace

Result<void> boot_or_join(const std::string& state, MachineRecord& machine) {
  const std::filesystem::path folder = std::filesystem::path(state).parent_path();
  if (!std::filesystem::is_directory(folder)) {
    return fail(ErrorCode::kNotFound,
                state + ": wanted an existing folder for the state, found none: " + folder.string());
  }
  if (std::filesystem::is_directory(state)) return invalid(state + ": wanted a file for the state, found a folder");
  const auto boot_id = fresh_boot_id();
  if (!boot_id) return pass_on(boot_id.error());
  begin(machine, *boot_id, now_us());
  if (!std::filesystem::exists(state)) {
    if (auto made = make_unless_there(state, machine); !made) return made;
  }
  const auto file = SimStateFile::open(state);
  if (!file) return pass_on(file.error());
  std::string found;
  (*file)->read([&](const MachineRecord& there) { found = describe_fleet(there); });
  const std::string wanted = describe_fleet(machine);
  if (found != wanted) return invalid(state + ": wanted the state of " + wanted + ", found that of " + found);
  return make_companions(**file);
}

Result<void> reboot(SimStateFile& file) {
  const auto boot_id = fresh_boot_id();
  if (!boot_id) return pass_on(boot_id.error());
  file.change_all([&](MachineRecord& machine) { nvml_sim::reboot(machine, *boot_id, now_us()); });
  return make_companions(file);
}

}  // namespace berth::nvml_sim_cli
