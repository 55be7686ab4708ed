#include "purchase/advise/find_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <set>
#include <vector>

namespace berth::purchase::advise {
namespace {

bool is_same_word(const std::string& a, const std::string& b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// The fault in a pod's GPUs, if any; adds the pod's use to each GPU.
std::optional<std::string> gpu_fault(const Pod& pod, const SeatedPod& seat, const pricing::Shape& shape,
                                     std::vector<int>& used) {
  if (std::ssize(seat.gpus) != pod.gpu_count) {
    return fmt::format("pod {} has {} GPUs instead of {}", seat.row, seat.gpus.size(), pod.gpu_count);
  }
  if (pod.gpu_count == 0) return std::nullopt;
  const auto is_model = [&](const std::string& model) { return is_same_word(model, shape.gpu_model); };
  if (!pod.gpu_models.empty() && std::ranges::none_of(pod.gpu_models, is_model)) {
    return fmt::format("pod {} does not accept {}", seat.row, shape.gpu_model);
  }
  if (shape.gpu_memory_mib < pod.gpu_memory_mib) return fmt::format("pod {} needs more GPU memory", seat.row);
  if (std::set<int>(seat.gpus.begin(), seat.gpus.end()).size() != seat.gpus.size()) {
    return fmt::format("pod {} has a GPU twice", seat.row);
  }
  for (const int gpu : seat.gpus) {
    if (gpu < 0 || gpu >= shape.gpu_count)
      return fmt::format("pod {} is on gpu-{}, which does not exist", seat.row, gpu);
    int& milli = used[static_cast<std::size_t>(gpu)];
    milli += pod.gpu_milli;
    if (milli > 1000) return fmt::format("gpu-{} of pod {} is used beyond its capacity", gpu, seat.row);
  }
  return std::nullopt;
}

std::optional<std::string> instance_fault(std::span<const Pod> pods, const Instance& instance, std::vector<int>& seen) {
  const pricing::Shape& shape = instance.offer.shape;
  std::vector<int> used(static_cast<std::size_t>(shape.gpu_count));
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  if (instance.pods.empty()) return "an instance has no pod";
  for (const SeatedPod& seat : instance.pods) {
    if (seat.row >= pods.size()) return fmt::format("pod {} does not exist", seat.row);
    ++seen[seat.row];
    cpu_milli += pods[seat.row].cpu_milli;
    memory_mib += pods[seat.row].memory_mib;
    if (auto fault = gpu_fault(pods[seat.row], seat, shape, used)) return fault;
  }
  if (cpu_milli > shape.vcpu_milli) return fmt::format("{} has too little CPU", instance.offer.key.instance_type);
  if (memory_mib > shape.memory_mib) return fmt::format("{} has too little memory", instance.offer.key.instance_type);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_fault(std::span<const Pod> pods, std::span<const pricing::Offer> offers,
                                      const Advice& advice) {
  std::vector<int> seen(pods.size());
  std::int64_t sum = 0;
  for (const Instance& instance : advice.instances) {
    const bool is_offered = std::ranges::find(offers, instance.offer) != offers.end();
    if (!is_offered || !pricing::is_buyable(instance.offer)) {
      return fmt::format("{} is not offered", instance.offer.key.instance_type);
    }
    sum += *instance.offer.micro_usd_per_hour;
    if (auto fault = instance_fault(pods, instance, seen)) return fault;
  }
  for (std::size_t row = 0; row < seen.size(); ++row) {
    if (seen[row] != 1) return fmt::format("pod {} has {} places", row, seen[row]);
  }
  if (sum != advice.micro_usd_per_hour) return fmt::format("the instances cost {}", sum);
  if (advice.bound_micro_usd_per_hour > sum) return "the bound is above the cost";
  for (const Rival& rival : advice.rivals) {
    if (rival.micro_usd_per_hour < sum) return fmt::format("{} is cheaper", rival.name);
  }
  return std::nullopt;
}

}  // namespace berth::purchase::advise
