#include "gpu/nvml_sim_program/state_verbs.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/core/text.h"
#include "gpu/nvml_sim_program/machine_changes.h"
#include "gpu/nvml_sim_program/machine_state.h"
#include "gpu/nvml_sim_program/show.h"
#include "gpu/nvml_sim_state/state_file.h"

namespace berth::nvml_sim_cli {
namespace {

using edges::SimStateFile;
using nvml_sim::MachineRecord;

constexpr std::int64_t kPidMax = 4'194'304;  // of Linux
constexpr std::int64_t kMemoryMibMax = 10'000'000;
constexpr std::int64_t kPercentMax = 100;
constexpr std::int64_t kCelsiusMax = 200;
constexpr std::int64_t kWattsMax = 10'000;

/// The machine of --state, or of the environment: programs that `run` started need not name it.
Result<std::unique_ptr<SimStateFile>> open_state(const Word& state) {
  if (state) return SimStateFile::open(*state);
  const char* const of_environment = std::getenv(kStateVariable);  // NOLINT(concurrency-mt-unsafe): one thread
  if (of_environment != nullptr && *of_environment != '\0') return SimStateFile::open(of_environment);
  return invalid(fmt::format("--state: wanted the path of a machine's state, found none, nor {} in the environment",
                             kStateVariable));
}

struct Range {
  std::int64_t min = 0;
  std::int64_t max = 0;
};
Result<std::int64_t> parse_number(std::string_view option, const std::string& text, Range range) {
  const auto number = parse_count(text, range.max);
  if (number && *number >= range.min) return *number;
  return invalid(
      fmt::format("{}: wanted a whole number from {} to {}, found {}", option, range.min, range.max, in_quotes(text)));
}

Result<double> parse_rate(const std::string& text) {
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && rate > 0 && rate <= kXidRateMax) return rate;
  return invalid(
      fmt::format("--rate: wanted a number per second above 0, at most {}, found {}", kXidRateMax, in_quotes(text)));
}

/// Reads options one after the other and keeps the first error.
class Reader {
 public:
  template <class T>
  T take(const Result<T>& value, T otherwise = {}) {
    if (value) return *value;
    if (!error_) error_ = value.error();
    return otherwise;
  }
  std::int64_t number(std::string_view option, const Word& word, Range range, std::int64_t otherwise) {
    return word ? take(parse_number(option, *word, range), otherwise) : otherwise;
  }
  std::uint32_t gpu(const Word& word) {
    if (!word && !error_) error_ = Error{ErrorCode::kInvalidInput, "--gpu: wanted the index of a GPU, found none"};
    return static_cast<std::uint32_t>(number("--gpu", word, {0, nvml_sim::kGpusMax - 1}, 0));
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

/// Changes the machine. The text for stdout is empty.
template <class Change>
Result<std::string> change_machine(const Word& state, Change change) {
  const auto file = open_state(state);
  if (!file) return pass_on(file.error());
  Result<void> changed;
  (*file)->change_all([&](MachineRecord& machine) { changed = change(machine); });
  if (!changed) return pass_on(changed.error());
  return "";
}

}  // namespace

Result<std::string> run_show(const ShowWords& words) {
  const std::string format = words.format.value_or("text");
  if (format != "text" && format != "json") return invalid("--format: wanted text or json, found " + in_quotes(format));
  const auto file = open_state(words.state);
  if (!file) return pass_on(file.error());
  std::string text;
  (*file)->read(
      [&](const MachineRecord& machine) { text = format == "json" ? show_json(machine) : show_text(machine); });
  return text;
}

namespace {

/// Checks that the options belong to one fault. Error: none or several faults, or an option of another one.
Result<void> check_fault_options(const FaultVerbWords& words) {
  const int count = (words.call ? 1 : 0) + (words.is_lost ? 1 : 0) + (words.xid ? 1 : 0) + (words.is_clear ? 1 : 0);
  if (count != 1) {
    return invalid(
        fmt::format("wanted one of --call, --lost, --xid and --clear, found {}", count == 0 ? "none" : "several"));
  }
  const auto refuse = [](std::string_view option, std::string_view with) {
    return invalid(fmt::format("{}: wanted only with {}", option, with));
  };
  if (words.error && !words.call) return refuse("--error", "--call");
  if (words.is_done && !words.call) return refuse("--done", "--call");
  if (words.after && !words.call) return refuse("--after", "--call");
  if (words.ms && !words.call) return refuse("--ms", "--call");
  if (words.rate && !words.xid) return refuse("--rate", "--xid");
  if (words.instance && !words.xid) return refuse("--instance", "--xid");
  if (words.instance && words.rate) return invalid("--instance: wanted no --rate with it, found one");
  if (words.times && !words.call && !words.xid) return refuse("--times", "--call or --xid");
  return {};
}

template <class T>
Result<T> of_option(std::string_view option, Result<T> value) {
  if (value) return value;
  return fail(value.error().code, fmt::format("{}: {}", option, value.error().message));
}

Result<std::string> run_call_fault(const FaultVerbWords& words) {
  Reader reader;
  const std::uint32_t gpu = reader.gpu(words.gpu);
  FaultWords fault;
  fault.call = reader.take(of_option("--call", parse_call(*words.call)));
  if (words.error) fault.error = reader.take(of_option("--error", parse_error_code(*words.error)));
  fault.is_done = words.is_done;
  fault.after = reader.number("--after", words.after, {0, kFaultCountMax}, 0);
  fault.times = reader.number("--times", words.times, {1, kFaultCountMax}, 1);
  fault.ms = reader.number("--ms", words.ms, {0, kFaultMsMax}, 0);
  if (reader.error()) return pass_on(*reader.error());
  return change_machine(words.state, [&](MachineRecord& machine) { return add_fault(machine, gpu, fault); });
}

Result<std::string> run_xid(const FaultVerbWords& words) {
  Reader reader;
  const std::uint32_t gpu = reader.gpu(words.gpu);
  XidWords xid;
  xid.xid = static_cast<std::int32_t>(reader.number("--xid", words.xid, {1, kXidMax}, 1));
  xid.times = reader.number("--times", words.times, {1, kXidTimesMax}, 1);
  if (words.instance) {
    xid.gpu_instance = static_cast<std::uint32_t>(reader.number("--instance", words.instance, {0, kInstanceMax}, 0));
  }
  if (words.rate) xid.rate = reader.take(parse_rate(*words.rate), 1.0);
  if (reader.error()) return pass_on(*reader.error());
  return change_machine(words.state, [&](MachineRecord& machine) { return raise_xid(machine, gpu, xid, now_us()); });
}

}  // namespace

Result<std::string> run_fault(const FaultVerbWords& words) {
  if (const auto checked = check_fault_options(words); !checked) return pass_on(checked.error());
  if (words.call) return run_call_fault(words);
  if (words.xid) return run_xid(words);
  Reader reader;
  const std::uint32_t gpu = reader.gpu(words.gpu);
  if (reader.error()) return pass_on(*reader.error());
  return change_machine(words.state, [&](MachineRecord& machine) {
    return words.is_lost ? lose_gpu(machine, gpu) : clear_faults(machine, gpu);
  });
}

Result<std::string> run_process(const ProcessVerbWords& words, bool is_added) {
  if (!words.uuid && is_added) return invalid("--uuid: wanted the UUID of a GPU or of a MIG device, found none");
  if (words.uuid && words.uuid->empty())
    return invalid("--uuid: wanted the UUID of a GPU or of a MIG device, found \"\"");
  if (!words.pid) return invalid("--pid: wanted the id of a process, found none");
  Reader reader;
  ProcessWords process{.uuid = words.uuid.value_or("")};
  process.pid = static_cast<std::uint32_t>(reader.number("--pid", words.pid, {1, kPidMax}, 1));
  process.memory_mib =
      static_cast<std::uint32_t>(reader.number("--memory-mib", words.memory_mib, {0, kMemoryMibMax}, 0));
  if (reader.error()) return pass_on(*reader.error());
  return change_machine(words.state, [&](MachineRecord& machine) {
    return is_added ? add_process(machine, process, now_us()) : remove_process(machine, process, now_us());
  });
}

Result<std::string> run_load(const LoadVerbWords& words) {
  if (!words.uuid) return invalid("--uuid: wanted the UUID of a GPU or of a MIG device, found none");
  Reader reader;
  const auto figure = [&](std::string_view option, const Word& word, std::int64_t max) {
    if (!word) return std::optional<std::uint32_t>();
    return std::optional(static_cast<std::uint32_t>(reader.number(option, word, {0, max}, 0)));
  };
  const LoadWords load{.uuid = *words.uuid,
                       .graphics_percent = figure("--graphics", words.graphics, kPercentMax),
                       .tensor_percent = figure("--tensor", words.tensor, kPercentMax),
                       .dram_percent = figure("--dram", words.dram, kPercentMax),
                       .temperature_c = figure("--temperature", words.temperature, kCelsiusMax),
                       .power_watts = figure("--power", words.power, kWattsMax)};
  if (reader.error()) return pass_on(*reader.error());
  const bool has_figure =
      load.graphics_percent || load.tensor_percent || load.dram_percent || load.temperature_c || load.power_watts;
  if (has_figure == words.is_clear) {
    return invalid(fmt::format("wanted figures to set, or --clear, found {}", has_figure ? "both" : "neither"));
  }
  return change_machine(words.state, [&](MachineRecord& machine) {
    return words.is_clear ? clear_load(machine, load.uuid, now_us()) : set_load(machine, load, now_us());
  });
}

Result<std::string> run_reset(const ResetWords& words) {
  if (words.is_reboot == words.gpu.has_value()) {
    return invalid(fmt::format("wanted --gpu N or --reboot, found {}", words.is_reboot ? "both" : "neither"));
  }
  if (words.is_reboot) {
    const auto file = open_state(words.state);
    if (!file) return pass_on(file.error());
    if (const auto done = reboot(**file); !done) return pass_on(done.error());
    return "";
  }
  Reader reader;
  const std::uint32_t gpu = reader.gpu(words.gpu);
  if (reader.error()) return pass_on(*reader.error());
  return change_machine(words.state, [&](MachineRecord& machine) { return reset_gpu(machine, gpu, now_us()); });
}

}  // namespace berth::nvml_sim_cli
