#include "gpu/nvml_sim_program/fault_words.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "gpu/nvml_sim/faults.h"

namespace berth::nvml_sim_cli {
namespace {

using nvml_sim::Latency;

constexpr std::array kSimulated = std::to_array<std::string_view>({
#define BERTH_NVML_FUNCTION(name, parameters) #name,
#define BERTH_NVML_TEXT_FUNCTION(name, parameters) #name,
#include "gpu/nvml_abi/simulated.inc"
});

constexpr std::array kNotSimulated = std::to_array<std::string_view>({
#define BERTH_NVML_STUB(name) #name,
#define BERTH_NVML_CHANGE(name) #name,
#define BERTH_NVML_CHANGE_OTHER(name) #name,
#include "gpu/nvml_abi/functions.inc"
});

/// Whether a name means one of these functions.
bool means_one_of(std::span<const std::string_view> functions, std::string_view name) {
  return std::ranges::any_of(functions, [&](std::string_view function) {
    return nvml_sim::means_call(name, function, Latency::kRead) && !nvml_sim::find_latency(name);
  });
}

std::vector<std::string_view> known_calls() {
  std::vector<std::string_view> known(kSimulated.begin(), kSimulated.end());
  for (int latency = 0; latency < nvml_sim::kLatencies; ++latency) {
    known.push_back(nvml_sim::name_of(static_cast<Latency>(latency)));
  }
  return known;
}

}  // namespace

Result<std::string> parse_call(std::string_view text) {
  if (nvml_sim::find_latency(text) || means_one_of(kSimulated, text)) return std::string(text);
  const std::string wanted =
      "wanted a simulated function, such as nvmlDeviceCreateGpuInstance, or a key of latency_ms, such as "
      "create_gpu_instance";
  const std::string found = ", found " + in_quotes(text);
  if (means_one_of(kNotSimulated, text)) {
    return invalid(wanted + found + ", which is exported but not simulated: it always answers NOT_SUPPORTED");
  }
  return invalid(wanted + found + spelling_hint(text, known_calls()));
}

Result<nvml_abi::Code> parse_error_code(std::string_view text) {
  if (const auto code = nvml_abi::find_code(text)) return *code;
  return invalid("wanted an error code of NVML, such as IN_USE or NVML_ERROR_IN_USE, found " + in_quotes(text) +
                 spelling_hint(text, nvml_abi::error_names()));
}

Result<nvml_sim::FaultRecord> make_fault(const FaultWords& words) {
  if (!words.error && words.ms == 0) return invalid("wanted an error or a delay (ms), found neither");
  if (!words.error && words.is_done) return invalid("wanted an error for a call that is done, found none");
  nvml_sim::FaultRecord fault;
  ENSURE(words.call.size() < sizeof(fault.call));
  fault.kind = nvml_sim::FaultRecord::kAnswer;
  fault.is_done = words.is_done ? 1 : 0;
  fault.error = words.error ? static_cast<std::int32_t>(*words.error) : 0;
  nvml_sim::put_text(fault.call, words.call);
  fault.after = words.after;
  fault.times = words.times;
  fault.delay_ms = words.ms;
  return fault;
}

}  // namespace berth::nvml_sim_cli
