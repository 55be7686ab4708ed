#include "gpu/nvml_sim_program/nvidia_smi.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/core/text.h"
#include "domain/mig/board.h"
#include "gpu/nvml_abi/names.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/reset.h"
#include "gpu/nvml_sim/telemetry.h"
#include "gpu/nvml_sim_program/machine_state.h"
#include "gpu/nvml_sim_state/permission.h"
#include "gpu/nvml_sim_state/state_file.h"

namespace berth::nvml_sim_cli {
namespace {

using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;

constexpr int kStatusFailed = 1;
constexpr int kStatusBadInput = 2;
constexpr int kStatusNoDriver = 9;  // the real one's

std::string device_line(const GpuRecord& gpu, const nvml_sim::MigDevice& device, std::size_t index) {
  const int slices = gpu.gpu_instances[device.gpu_instance].compute_instances[device.compute_instance].slices;
  std::string name = "MIG";
  for (std::uint32_t number = 0; number < nvml_abi::compute_instance_profiles().size(); ++number) {
    const auto profile = nvml_sim::compute_profile(gpu, device.gpu_instance, number);
    if (profile && profile->slices == slices) name = profile->name;
  }
  constexpr std::size_t kNameWidth = 16;
  name.resize(std::max(name.size(), kNameWidth), ' ');
  return "  " + name + "Device  " + std::to_string(index) + ": (UUID: " + nvml_sim::mig_uuid(gpu, device) + ")\n";
}

/// "0000:07:00.0" of "00000000:07:00.0" and of "0000:07:00.0": lower case, four digits of the domain.
std::string plain_address(std::string_view address) {
  std::string text(address);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::size_t kLongDomain = 8;
  if (text.find(':') == kLongDomain && text.starts_with("0000")) text.erase(0, 4);
  return text;
}

bool means(const GpuRecord& gpu, std::string_view word) {
  return word == std::to_string(gpu.index) || word == gpu.uuid || plain_address(word) == plain_address(gpu.bus_id);
}

Result<std::vector<std::uint32_t>> listed_gpus(const MachineRecord& machine, const std::string& list) {
  std::vector<std::uint32_t> gpus;
  if (list.empty()) {
    for (std::uint32_t index = 0; index < machine.gpu_count; ++index) gpus.push_back(index);
    return gpus;
  }
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string word = list.substr(begin, end - begin);
    const auto* const gpu = std::find_if(machine.gpus, machine.gpus + machine.gpu_count,
                                         [&](const GpuRecord& each) { return means(each, word); });
    if (gpu == machine.gpus + machine.gpu_count) {
      return invalid("-i: wanted the index, UUID or PCI address of a GPU, found " + in_quotes(word));
    }
    gpus.push_back(gpu->index);
    begin = end + 1;
  }
  return gpus;
}

}  // namespace

std::string list_text(const MachineRecord& machine) {
  std::string text;
  for (std::uint32_t index = 0; index < machine.gpu_count; ++index) {
    const GpuRecord& gpu = machine.gpus[index];
    text += "GPU " + std::to_string(index) + ": " + mig::board_of(nvml_sim::model_of(gpu)).name +
            " (UUID: " + gpu.uuid + ")\n";
    const std::vector<nvml_sim::MigDevice> devices = nvml_sim::mig_devices(gpu);
    for (std::size_t i = 0; i < devices.size(); ++i) text += device_line(gpu, devices[i], i);
  }
  return text;
}

Result<std::string> reset_listed(MachineRecord& machine, const std::string& list, std::int64_t now_us) {
  const auto gpus = listed_gpus(machine, list);
  if (!gpus) return pass_on(gpus.error());
  for (const std::uint32_t index : *gpus) {
    if (!nvml_sim::has_process(machine.gpus[index])) continue;
    return invalid(std::string("GPU ") + machine.gpus[index].bus_id + " is in use by a process; nothing was reset");
  }
  std::string text;
  for (const std::uint32_t index : *gpus) {
    GpuRecord& gpu = machine.gpus[index];
    nvml_sim::settle_energy(gpu, now_us);
    nvml_sim::reset_gpu(gpu);
    text += std::string("GPU ") + gpu.bus_id + " was successfully reset.\n";
  }
  return text;
}

namespace {

struct SmiWords {
  bool is_list = false;
  bool is_reset = false;
  std::string gpus;
};

Result<SmiWords> parse_words(const std::vector<std::string>& words) {
  SmiWords parsed;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    constexpr std::string_view kId = "--id=";
    if (word == "-L" || word == "--list-gpus") {
      parsed.is_list = true;
    } else if (word == "-r" || word == "--gpu-reset") {
      parsed.is_reset = true;
    } else if ((word == "-i" || word == "--id") && i + 1 < words.size()) {
      parsed.gpus = words[++i];
    } else if (word.starts_with(kId)) {
      parsed.gpus = word.substr(kId.size());
    } else {
      return invalid("wanted -L, or -r [-i LIST], which are all that is simulated, found " + in_quotes(word));
    }
  }
  if (parsed.is_list == parsed.is_reset) return invalid("wanted -L, or -r [-i LIST], found neither or both");
  return parsed;
}

int fail_with(std::FILE* err, const std::string& message, int status) {
  std::fprintf(err, "nvidia-smi (berth-nvml-sim): %s\n", message.c_str());
  return status;
}

}  // namespace

int run_nvidia_smi(const std::vector<std::string>& words, std::FILE* out, std::FILE* err) {
  const auto parsed = parse_words(words);
  if (!parsed) return fail_with(err, parsed.error().message, kStatusBadInput);
  const char* const state = std::getenv(kStateVariable);  // NOLINT(concurrency-mt-unsafe): one thread
  if (state == nullptr)
    return fail_with(err, "wanted a simulated machine in " + std::string(kStateVariable), kStatusNoDriver);
  const auto file = edges::SimStateFile::open(state);
  if (!file) return fail_with(err, file.error().message, kStatusNoDriver);
  Result<std::string> text;
  if (parsed->is_list) {
    (*file)->read([&](const MachineRecord& machine) { text = list_text(machine); });
  } else if (edges::may_change_devices()) {
    (*file)->change_all([&](MachineRecord& machine) { text = reset_listed(machine, parsed->gpus, now_us()); });
  } else {
    return fail_with(err, "wanted root for a reset, found another user", kStatusFailed);
  }
  if (!text) return fail_with(err, text.error().message, kStatusFailed);
  std::fputs(text->c_str(), out);
  return std::fflush(out) == 0 ? 0 : kStatusFailed;
}

}  // namespace berth::nvml_sim_cli
