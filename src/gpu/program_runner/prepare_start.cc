#include "gpu/program_runner/prepare_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/core/text.h"
#include "base/yaml/document.h"
#include "base/yaml/reader.h"
#include "gpu/program_runner/disk_records.h"
#include "gpu/program_runner/http_probe.h"
#include "gpu/program_runner/keeper.h"
#include "gpu/program_runner/readable_engine.h"
#include "gpu/program_runner/trusted_file.h"
#include "gpu/programs/program_plan.h"

namespace berth::edges {
namespace {

constexpr std::size_t kDeviceFileMax = 65'536;
constexpr std::int64_t kBatchesPerLane = 2;
constexpr std::int64_t kUsualBatch = 64;  // of berth serve
constexpr const char* kProgramPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool is_folder(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

/// 128 random bits.
Result<std::string> new_key() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return fail(ErrorCode::kUnavailable, "the kernel gives no random bytes for a key");
  }
  std::string key;
  for (const unsigned char byte : bytes) key += fmt::format("{:02x}", byte);
  return key;
}

/// A repository with this one model: FOLDER/models/MODEL is a link to it.
Result<void> link_model(const std::string& models, const std::string& model, const std::string& path) {
  if (!is_folder(path)) return invalid(fmt::format("run.serve.model: wanted a folder {}, found none", path));
  if (auto made = make_own_folder(models, 0755); !made) return made;
  const std::string link = models + "/" + model;
  ::unlink(link.c_str());
  if (::symlink(path.c_str(), link.c_str()) == 0) return {};
  return fail(ErrorCode::kUnavailable, fmt::format("{}: cannot be made: {}", link, std::strerror(errno)));
}

/// Copies what `berth up` wrote of the device. Returns how many requests it takes at a time.
Result<std::int64_t> copy_device_file(const ProcessOrder& order, const StartPlace& place) {
  if (!place.rules.simulated_devices) {
    return invalid("simulated_devices: wanted a folder in the configuration of the GPU agent, found none");
  }
  const std::string name = programs::program_name(order.slice, order.generation) + ".yaml";
  const auto text = read_foreign_file(*place.rules.simulated_devices, name, kDeviceFileMax);
  if (!text) return pass_on(text.error());
  const auto tree = yaml::parse_document(*text, name);
  if (!tree) return pass_on(tree.error());
  yaml::Report report(name);
  const yaml::Value root(*tree, report);
  const std::int64_t lanes = root.at("lanes").whole({1, 64});
  const std::int64_t batch = root.at("batch_max").whole({1, 4096});
  if (report.has_failed()) return pass_on(report.failure());
  const std::string copy = place.folder + program_files::kDevice;
  if (auto written = write_record(copy, *text); !written) return pass_on(written.error());
  if (::chmod(copy.c_str(), 0644) != 0) return fail(ErrorCode::kUnavailable, copy + ": its mode cannot be set");
  return kBatchesPerLane * lanes * batch;
}

/// Absent: the repository names none.
Result<std::optional<std::string>> engine_for_others(const ProcessOrder& order, const programs::ProgramRules& rules) {
  const auto& repository = rules.repositories.at(order.parameters.at(std::string(programs::kServeRepository)));
  if (!repository.engine) return std::nullopt;
  auto path = readable_engine(*repository.engine, rules.state + "/engine");
  if (!path) return pass_on(path.error());
  return std::optional(std::move(*path));
}

std::vector<std::string> environment_of(const programs::ProgramRecord& record, const std::string& home) {
  std::vector<std::string> environment = {kProgramPath, "LANG=C.UTF-8", "HOME=" + home, "TMPDIR=" + home};
  environment.push_back("CUDA_VISIBLE_DEVICES=" + record.order.device_uuid);
  environment.push_back(fmt::format("BERTH_PORT={}", record.port));
  environment.push_back("BERTH_SLICE=" + record.order.slice);
  environment.push_back(fmt::format("BERTH_GENERATION={}", record.order.generation));
  if (!record.key.empty()) environment.push_back("BERTH_KEY=" + record.key);
  return environment;
}

}  // namespace

Result<programs::ProgramRecord> prepare_start(programs::ProgramRecord record, const StartPlace& place) {
  if (auto checked = programs::check_order(record.order, place.rules); !checked) return pass_on(checked.error());
  const bool is_serve = record.order.template_name == programs::kServeTemplate;
  programs::StartPlaces places{.port = free_loopback_port(), .model_folder = place.folder + program_files::kModels};
  if (places.port == 0) return fail(ErrorCode::kUnavailable, "no port of the loopback interface is free");
  std::int64_t serve_in_flight = kBatchesPerLane * kUsualBatch;
  if (is_serve && place.is_simulated) {
    const auto in_flight = copy_device_file(record.order, place);
    if (!in_flight) return pass_on(in_flight.error());
    serve_in_flight = *in_flight;
    places.device_file = place.folder + program_files::kDevice;
  }
  if (is_serve && record.start.uid) {
    auto engine = engine_for_others(record.order, place.rules);
    if (!engine) return pass_on(engine.error());
    places.engine = std::move(*engine);
  }
  programs::ProgramPlan plan = programs::plan_of(record.order, place.rules, places);
  record.key.clear();
  if (is_serve) {
    const std::string& model = record.order.parameters.at(std::string(programs::kServeModel));
    if (auto linked = link_model(places.model_folder, model, plan.model_path); !linked) return pass_on(linked.error());
    auto key = new_key();
    if (!key) return pass_on(key.error());
    record.key = std::move(*key);
  }
  ++record.starts;
  record.port = places.port;
  record.ready = plan.ready;
  record.start_time.reset();
  record.ready_seconds = plan.limits.ready_seconds;
  record.drain_seconds = plan.limits.drain_seconds;
  record.in_flight_max = plan.limits.in_flight_max > 0 ? plan.limits.in_flight_max : serve_in_flight;
  record.start.words = std::move(plan.words);
  record.start.environment = environment_of(record, place.folder + program_files::kHome);
  record.start.is_serve = is_serve;
  record.start.memory_mib = plan.limits.memory_mib;
  record.start.file_mib = plan.limits.file_mib;
  record.start.files_max = plan.limits.files_max;
  return record;
}

Result<pid_t> spawn_keeper(const std::string& program, const std::string& folder, std::int64_t start_number,
                           const std::optional<std::string>& simulated_state) {
  std::vector<std::string> words = {"berth", "hands", "--keep", folder, "--start", std::to_string(start_number)};
  std::vector<std::string> environment = {kProgramPath};
  if (simulated_state) environment.push_back("BERTH_NVML_SIM_STATE=" + *simulated_state);
  std::vector<char*> word_pointers;
  for (std::string& word : words) word_pointers.push_back(word.data());
  word_pointers.push_back(nullptr);
  std::vector<char*> environment_pointers;
  for (std::string& variable : environment) environment_pointers.push_back(variable.data());
  environment_pointers.push_back(nullptr);

  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&files, number, "/dev/null", O_RDWR, 0);
  }
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGTERM);  // until the keeper can obey it
  ::posix_spawnattr_setsigmask(&attributes, &held);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int trouble =
      ::posix_spawn(&pid, program.c_str(), &files, &attributes, word_pointers.data(), environment_pointers.data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (trouble == 0) return pid;
  return fail(ErrorCode::kUnavailable, fmt::format("no process for its keeper: {}", std::strerror(trouble)));
}

}  // namespace berth::edges
