#include "placement/potential.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace berth::placement {
namespace {

constexpr double kShareOfCounts = 0.45;
constexpr double kWholeness = 3;
constexpr double kSizeExponent = 0.1;
constexpr double kSizeExponentOfUsable = 0.65;
constexpr double kScarcityExponent = 0.6;
constexpr double kScarcityMin = 0.002;
constexpr double kRemainderExponent = 3;
constexpr float kNoLimit = 1e6F;
constexpr std::size_t kSlots = 1 << 16;

std::size_t slot_of(const PotentialKey& key) {
  std::uint64_t hash = static_cast<std::uint64_t>(key.cpu_free) * 0x9e3779b97f4a7c15ULL +
                       static_cast<std::uint64_t>(key.memory_free) * 0xc2b2ae3d27d4eb4fULL +
                       static_cast<std::uint64_t>(key.model) * 0x165667b19e3779f9ULL;
  for (const GpuStateIndex gpu : key.gpus) hash = (hash ^ gpu) * 0x100000001b3ULL;
  hash ^= hash >> 29;
  return (hash * 0xbf58476d1ce4e5b9ULL) >> 48;
}

float inverse(std::int64_t amount) { return amount > 0 ? 1 / static_cast<float>(amount) : kNoLimit; }

}  // namespace

void PotentialKey::exchange(GpuStateIndex from, GpuStateIndex to) {
  const auto end = gpus.begin() + gpu_count;
  auto at = std::find(gpus.begin(), end, from);
  *at = to;
  for (; at != gpus.begin() && *(at - 1) > *at; --at) std::swap(*(at - 1), *at);
  for (; at + 1 != end && *(at + 1) < *at; ++at) std::swap(*(at + 1), *at);
}

Potential::Potential(const Problem& problem, GpuOutlooks& outlooks) : outlooks_(&outlooks), slots_(kSlots) {
  add_groups(problem);
  divide_by_model(problem.models.size());
  counts_.resize(outlooks.requests().size() + sizes_.size());
  usable_.resize(counts_.size());
  weigh_usable();
}

void Potential::add_groups(const Problem& problem) {
  for (const Shape& shape : problem.shapes) {
    if (shape.gpu_count > 1 && std::ranges::find(sizes_, shape.gpu_count) == sizes_.end()) sizes_.push_back(shape.gpu_count);
  }
  std::int64_t rows = 0;
  for (const ShapeIndex index : indices_of<ShapeIndex>(problem.shapes)) {
    const Shape& shape = problem.shapes[static_cast<std::size_t>(index)];
    if (shape.gpu_count == 0) continue;
    const std::int64_t count = problem.rows_of_shape[static_cast<std::size_t>(index)];
    rows += count;
    const std::size_t count_at =
        shape.gpu_count == 1
            ? outlooks_->request_of(index)
            : outlooks_->requests().size() + static_cast<std::size_t>(std::ranges::find(sizes_, shape.gpu_count) - sizes_.begin());
    groups_.push_back({.cpu_milli = shape.cpu_milli,
                       .memory_mib = shape.memory_mib,
                       .gpu_count = shape.gpu_count,
                       .gpu_milli = shape.gpu_milli,
                       .count_at = count_at,
                       .fits_model = shape.fits_model,
                       .share = static_cast<double>(count)});
  }
  for (Group& group : groups_) group.share /= static_cast<double>(rows);
}

void Potential::divide_by_model(std::size_t models) {
  for (std::size_t model = 0; model < models; ++model) {
    Groups& of = of_model_.emplace_back();
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Group& group = groups_[i];
      if (!group.fits_model[model]) continue;
      of.per_cpu.push_back(inverse(group.cpu_milli));
      of.per_memory.push_back(inverse(group.memory_mib));
      of.milli.push_back(static_cast<float>(group.gpu_count * group.gpu_milli));
      of.count_at.push_back(static_cast<std::uint32_t>(group.count_at));
      of.group.push_back(static_cast<std::uint32_t>(i));
    }
    of.weight.resize(of.group.size());
    of.weight_usable.resize(of.group.size());
  }
}

double Potential::unscaled_weight(const Group& group) const {
  if (group.gpu_count > 1) return group.share;
  const double used = group.gpu_milli + outlooks_->value_of(kGpuMilli - group.gpu_milli);
  return group.share * std::pow(used / kGpuMilli, -kRemainderExponent);
}

void Potential::weigh_usable() {
  std::vector<double> weights;
  double sum = 0;
  for (const Group& group : groups_) {
    const double size = static_cast<double>(group.gpu_count) * group.gpu_milli / kGpuMilli;
    weights.push_back(unscaled_weight(group) * std::pow(size, -kSizeExponentOfUsable));
    sum += weights.back();
  }
  for (Groups& of : of_model_) {
    for (std::size_t i = 0; i < of.group.size(); ++i) {
      of.weight_usable[i] = static_cast<float>((1 - kShareOfCounts) * weights[of.group[i]] / sum);
    }
  }
}

int Potential::count(const PotentialKey& key) {
  std::ranges::fill(counts_, 0.0F);
  std::ranges::fill(usable_, 0.0F);
  const std::size_t requests = outlooks_->requests().size();
  int free = 0;
  int whole = 0;
  for (std::int32_t gpu = 0; gpu < key.gpu_count; ++gpu) {
    const GpuOutlook& outlook = outlooks_->outlook(key.gpus[static_cast<std::size_t>(gpu)]);
    for (std::size_t i = 0; i < requests; ++i) {
      counts_[i] += static_cast<float>(outlook.counts[i]);
      usable_[i] += static_cast<float>(outlook.usable[i]);
    }
    free += outlook.free_milli;
    whole += outlook.is_whole ? 1 : 0;
  }
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    counts_[requests + i] = static_cast<float>(whole / sizes_[i]);
    usable_[requests + i] = whole >= sizes_[i] ? static_cast<float>(whole * kGpuMilli) : 0.0F;
  }
  return free;
}

void Potential::weigh(const std::vector<PotentialKey>& nodes, std::int64_t capacity_milli) {
  std::vector<double> takes(groups_.size());
  for (const PotentialKey& node : nodes) {
    count(node);
    const Groups& of = of_model_[static_cast<std::size_t>(node.model)];
    const auto cpu = static_cast<float>(node.cpu_free);
    const auto memory = static_cast<float>(node.memory_free);
    for (std::size_t i = 0; i < of.group.size(); ++i) {
      const float beside = std::floor(std::min(cpu * of.per_cpu[i], memory * of.per_memory[i]) + 1e-4F);
      takes[of.group[i]] += of.milli[i] * std::min(beside, counts_[of.count_at[i]]);
    }
  }
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const double size = static_cast<double>(groups_[i].gpu_count) * groups_[i].gpu_milli / kGpuMilli;
    const double room = std::max(takes[i] / static_cast<double>(capacity_milli), kScarcityMin);
    weights.push_back(unscaled_weight(groups_[i]) * std::pow(size, -kSizeExponent) * std::pow(room, -kScarcityExponent));
    sum += weights.back();
  }
  for (Groups& of : of_model_) {
    for (std::size_t i = 0; i < of.group.size(); ++i) {
      of.weight[i] = static_cast<float>(kShareOfCounts * weights[of.group[i]] / sum) * of.milli[i];
    }
  }
  for (Slot& slot : slots_) slot.is_used = false;
}

double Potential::compute(const PotentialKey& key) {
  constexpr float kAlmostOne = 1 - 1e-6F;
  const int free = count(key);
  const Groups& of = of_model_[static_cast<std::size_t>(key.model)];
  const auto cpu = static_cast<float>(key.cpu_free);
  const auto memory = static_cast<float>(key.memory_free);
  // Several sums side by side: in this order on every machine.
  constexpr std::size_t kLanes = 8;
  std::array<float, kLanes> sums = {};
  for (std::size_t i = 0; i < of.group.size(); ++i) {
    const float beside = std::min(cpu * of.per_cpu[i], memory * of.per_memory[i]);
    const std::uint32_t at = of.count_at[i];
    const float worth = of.weight[i] * std::min(beside, counts_[at]) + of.weight_usable[i] * usable_[at];
    sums[i % kLanes] += beside >= kAlmostOne ? worth : 0.0F;
  }
  double potential = 0;
  for (const float sum : sums) potential += static_cast<double>(sum);
  for (std::int32_t gpu = 0; gpu < key.gpu_count; ++gpu) {
    potential += outlooks_->outlook(key.gpus[static_cast<std::size_t>(gpu)]).value;
  }
  const double gpus = static_cast<double>(free) / kGpuMilli;
  return potential + kWholeness * gpus * gpus;
}

double Potential::of(const PotentialKey& key) {
  Slot& slot = slots_[slot_of(key)];
  if (!slot.is_used || slot.key != key) slot = {.key = key, .value = compute(key), .is_used = true};
  return slot.value;
}

}  // namespace berth::placement
