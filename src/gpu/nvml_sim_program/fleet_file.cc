#include "gpu/nvml_sim_program/fleet_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/core/decimal.h"
#include "base/yaml/document.h"
#include "base/yaml/reader.h"
#include "domain/mig/catalogue.h"
#include "gpu/nvml_sim/faults.h"
#include "gpu/nvml_sim_program/fault_words.h"

namespace berth::nvml_sim_cli {
namespace {

using nvml_sim::kGpusMax;
using nvml_sim::Latency;
using nvml_sim::MachineRecord;

constexpr std::string_view kDriverDefault = "580.95.05";
constexpr std::int64_t kLatencyMsMax = 600'000;

std::string read_driver(const yaml::Value& value) {
  if (!value.is_written()) return std::string(kDriverDefault);
  const std::string wanted = "a version that begins with digits, such as 580.95.05";
  const std::string driver = value.text(wanted);
  constexpr std::size_t kLengthMax = sizeof(MachineRecord::driver) - 1;
  constexpr std::string_view kAllowed = "0123456789.-abcdefghijklmnopqrstuvwxyz";
  const bool begins_well = !driver.empty() && driver.front() >= '0' && driver.front() <= '9';
  const bool is_plain = driver.find_first_not_of(kAllowed) == std::string::npos && driver.size() <= kLengthMax;
  if (!begins_well || !is_plain) value.refuse(wanted);
  return driver;
}

/// Whether the first number of a version is below 510.
bool is_before_r510(std::string_view driver) {
  constexpr std::size_t kDigits = 3;
  constexpr std::string_view kR510 = "510";
  std::string_view branch = driver.substr(0, driver.find_first_not_of("0123456789"));
  branch.remove_prefix(std::min(branch.find_first_not_of('0'), branch.size()));
  return branch.size() < kDigits || (branch.size() == kDigits && branch < kR510);
}

/// An entry of `fleet`.
struct Entry {
  GpuModel model;
  std::int64_t count = 1;
  bool is_mig_on = false;
};

Entry read_entry(const yaml::Value& value) {
  value.check_keys({"gpu", "count", "mig"});
  Entry entry;
  const std::string name = value.at("gpu").name();
  if (value.has_failed()) return entry;
  auto model = mig::find_gpu_model(name);
  if (!model) {
    value.at("gpu").fail(model.error().message);
    return entry;
  }
  entry.model = std::move(*model);
  if (value.at("count").is_written()) entry.count = value.at("count").whole({1, kGpusMax});
  entry.is_mig_on = entry.model.is_mig_capable();
  if (!value.at("mig").is_written()) return entry;
  entry.is_mig_on = value.at("mig").truth();
  if (entry.is_mig_on && !entry.model.is_mig_capable()) {
    value.at("mig").refuse("false, as " + entry.model.name + " has no MIG");
  }
  return entry;
}

void read_gpus(const yaml::Value& value, MachineRecord& machine) {
  const bool is_old = is_before_r510(machine.driver);
  for (const yaml::Value& item : value.items("a list of at least one GPU", false)) {
    const Entry entry = read_entry(item);
    if (value.has_failed()) return;
    if (machine.gpu_count + entry.count > kGpusMax) {
      return item.refuse("at most " + std::to_string(kGpusMax) + " GPUs in all",
                         std::to_string(machine.gpu_count + entry.count));
    }
    const GpuModel& model = *std::ranges::find(mig::gpu_models(), entry.model.name, &GpuModel::name);
    for (std::int64_t i = 0; i < entry.count; ++i, ++machine.gpu_count) {
      machine.gpus[machine.gpu_count] = nvml_sim::make_gpu(
          {.model = &model, .index = machine.gpu_count, .is_mig_on = entry.is_mig_on, .is_before_r510 = is_old});
    }
  }
}

void read_latencies(const yaml::Value& value, MachineRecord& machine) {
  if (!value.is_written()) return;
  std::array<std::string_view, nvml_sim::kLatencies> names;
  for (int i = 0; i < nvml_sim::kLatencies; ++i) names[i] = nvml_sim::name_of(static_cast<Latency>(i));
  value.check_keys(names);
  constexpr std::int64_t kMicrosPerMilli = 1'000;
  const yaml::NumberRule rule = yaml::number_from(Decimal(0), Decimal(kLatencyMsMax));
  for (int i = 0; i < nvml_sim::kLatencies; ++i) {
    const yaml::Value latency = value.at(names[i]);
    if (latency.is_written()) machine.latency_us[i] = (latency.number(rule) * Decimal(kMicrosPerMilli)).floor();
  }
}

FaultWords read_fault_words(const yaml::Value& value) {
  FaultWords words;
  const auto call = parse_call(value.at("call").text("a function or a key of latency_ms"));
  if (call) words.call = *call;
  if (!call && !value.has_failed()) value.at("call").fail(call.error().message);
  if (value.at("error").is_present()) {
    const auto error = parse_error_code(value.at("error").text("an error code of NVML"));
    if (error) words.error = *error;
    if (!error && !value.has_failed()) value.at("error").fail(error.error().message);
  }
  if (value.at("done").is_written()) words.is_done = value.at("done").truth();
  if (value.at("after").is_written()) words.after = value.at("after").whole({0, kFaultCountMax});
  if (value.at("times").is_written()) words.times = value.at("times").whole({1, kFaultCountMax});
  if (value.at("ms").is_written()) words.ms = value.at("ms").whole({0, kFaultMsMax});
  return words;
}

void read_faults(const yaml::Value& value, MachineRecord& machine) {
  if (!value.is_written()) return;
  for (const yaml::Value& item : value.items("a list of faults")) {
    item.check_keys({"gpu", "call", "error", "done", "after", "times", "ms"});
    const std::int64_t gpu = item.at("gpu").whole({0, static_cast<std::int64_t>(machine.gpu_count) - 1});
    const FaultWords words = read_fault_words(item);
    if (value.has_failed()) return;
    const auto fault = make_fault(words);
    if (!fault) return item.fail(fault.error().message);
    if (!nvml_sim::add_fault(machine.gpus[gpu], *fault)) {
      const std::string wanted = "at most " + std::to_string(nvml_sim::kFaultsMax) + " faults of one GPU";
      return item.refuse(wanted, "more on GPU " + std::to_string(gpu));
    }
  }
}

std::string read_state(const yaml::Value& value, const std::string& path) {
  if (!value.is_written()) return "";
  constexpr std::size_t kPathBytesMax = 4096;
  const std::string state = value.name(kPathBytesMax);
  return (std::filesystem::path(path).parent_path() / state).string();  // an absolute one stays as it is
}

}  // namespace

Result<Fleet> parse_fleet(std::string_view text, const std::string& path) {
  const auto root = yaml::parse_document(text, path);
  if (!root) return pass_on(root.error());
  yaml::Report report(path);
  const yaml::Value value(*root, report);
  value.check_keys({"fleet", "driver", "latency_ms", "faults", "state"});
  auto machine = std::make_unique<MachineRecord>();
  nvml_sim::put_text(machine->driver, read_driver(value.at("driver")));
  if (!report.has_failed()) read_gpus(value.at("fleet"), *machine);
  if (!report.has_failed()) read_latencies(value.at("latency_ms"), *machine);
  if (!report.has_failed()) read_faults(value.at("faults"), *machine);
  const yaml::Value state_value = value.at("state");
  std::string state = report.has_failed() ? "" : read_state(state_value, path);
  if (report.has_failed()) return pass_on(report.failure());
  return Fleet{.machine = std::move(machine), .state = std::move(state), .state_place = state_value.where()};
}

std::string describe_fleet(const MachineRecord& machine) {
  std::string text;
  for (std::uint32_t begin = 0, end = 0; begin < machine.gpu_count; begin = end) {
    const std::string_view model = machine.gpus[begin].model;
    while (end < machine.gpu_count && model == machine.gpus[end].model) ++end;
    text += std::to_string(end - begin) + " " + std::string(model) + ", ";
  }
  return text + "driver " + machine.driver;
}

}  // namespace berth::nvml_sim_cli
