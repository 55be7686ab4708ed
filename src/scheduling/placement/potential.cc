#include "scheduling/placement/potential.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/core/ensure.h"

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

float inverse(std::int64_t amount) { return amount > 0 ? 1 / static_cast<float>(amount) : kNoLimit; }

}  // namespace

std::size_t PotentialKeyHash::operator()(const PotentialKey& key) const noexcept {
  std::uint64_t hash = static_cast<std::uint64_t>(key.cpu_free) * 0x9e3779b97f4a7c15ULL +
                       static_cast<std::uint64_t>(key.memory_free) * 0xc2b2ae3d27d4eb4fULL +
                       static_cast<std::uint64_t>(key.model) * 0x165667b19e3779f9ULL;
  for (std::int32_t gpu = 0; gpu < key.gpu_count; ++gpu) {
    hash = (hash ^ key.gpus[static_cast<std::size_t>(gpu)]) * 0x9e3779b97f4a7c15ULL;
  }
  hash ^= hash >> 29;
  return (hash * 0xbf58476d1ce4e5b9ULL) >> 32;
}

void PotentialKey::exchange(GpuStateIndex from, GpuStateIndex to) {
  const auto end = gpus.begin() + gpu_count;
  auto at = std::find(gpus.begin(), end, from);
  ENSURE(at != end);
  *at = to;
  for (; at != gpus.begin() && *(at - 1) > *at; --at) std::swap(*(at - 1), *at);
  for (; at + 1 != end && *(at + 1) < *at; ++at) std::swap(*(at + 1), *at);
}

Potential::Potential(const Problem& problem, GpuOutlooks& outlooks) : outlooks_(&outlooks), slots_(kSlots) {
  add_groups(problem);
  divide_by_model(problem.models.size());
  counts_.resize(sizes_begin() + sizes_.size());
  usable_.resize(counts_.size());
  weigh_usable();
}

std::size_t Potential::sizes_begin() const {
  const std::size_t blocks = (outlooks_->requests().size() + kRequestsPerBlock - 1) / kRequestsPerBlock;
  return blocks * kRequestsPerBlock;
}

void Potential::add_groups(const Problem& problem) {
  for (const Shape& shape : problem.shapes) {
    if (shape.gpu_count > 1 && std::ranges::find(sizes_, shape.gpu_count) == sizes_.end())
      sizes_.push_back(shape.gpu_count);
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
            : sizes_begin() + static_cast<std::size_t>(std::ranges::find(sizes_, shape.gpu_count) - sizes_.begin());
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
    std::map<std::size_t, std::vector<std::size_t>> by_request;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].fits_model[model]) by_request[groups_[i].count_at].push_back(i);
    }
    std::vector<Block>& blocks = of_model_.emplace_back();
    for (const auto& [count_at, members] : by_request) {
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::size_t lane = i % kLanes;
        if (lane == 0) blocks.push_back({.count_at = count_at});
        if (lane == 0) blocks.back().group.fill(-1);
        const Group& group = groups_[members[i]];
        blocks.back().per_cpu[lane] = inverse(group.cpu_milli);
        blocks.back().per_memory[lane] = inverse(group.memory_mib);
        blocks.back().group[lane] = static_cast<std::int32_t>(members[i]);
      }
    }
  }
}

template <class Visit>
void Potential::for_each_lane(const Visit& visit) {
  for (std::vector<Block>& blocks : of_model_) {
    for (Block& block : blocks) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if (block.group[lane] >= 0) visit(block, lane, static_cast<std::size_t>(block.group[lane]));
      }
    }
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
  for_each_lane([&](Block& block, std::size_t lane, std::size_t group) {
    block.weight_usable[lane] = static_cast<float>((1 - kShareOfCounts) * weights[group] / sum);
  });
}

int Potential::count(const PotentialKey& key) {
  const std::size_t requests = outlooks_->requests().size();
  std::array<const GpuOutlook*, kNodeGpusMax> gpus = {};
  int free = 0;
  int whole = 0;
  const auto gpu_count = static_cast<std::size_t>(key.gpu_count);
  for (std::size_t gpu = 0; gpu < gpu_count; ++gpu) {
    gpus[gpu] = &outlooks_->outlook(key.gpus[gpu]);
    free += gpus[gpu]->free_milli;
    whole += gpus[gpu]->is_whole ? 1 : 0;
  }
  for (std::size_t block = 0; block * kRequestsPerBlock < requests; ++block) {
    RequestBlock counts = {};
    RequestBlock usable = {};
    for (std::size_t gpu = 0; gpu < gpu_count; ++gpu) {
      const RequestBlock& more = gpus[gpu]->counts[block];
      const RequestBlock& more_usable = gpus[gpu]->usable[block];
      for (std::size_t i = 0; i < kRequestsPerBlock; ++i) {
        counts[i] = static_cast<std::uint16_t>(counts[i] + more[i]);
        usable[i] = static_cast<std::uint16_t>(usable[i] + more_usable[i]);
      }
    }
    for (std::size_t i = 0; i < kRequestsPerBlock; ++i) {
      counts_[block * kRequestsPerBlock + i] = static_cast<float>(counts[i]);
      usable_[block * kRequestsPerBlock + i] = static_cast<float>(usable[i]);
    }
  }
  const std::size_t sizes_at = sizes_begin();
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const int count = whole / sizes_[i];
    counts_[sizes_at + i] = static_cast<float>(count);
    usable_[sizes_at + i] = whole >= sizes_[i] ? static_cast<float>(whole * kGpuMilli) : 0.0F;
  }
  return free;
}

std::vector<double> Potential::weights_on(const std::vector<PotentialKey>& nodes, std::int64_t capacity_milli) {
  std::vector<double> takes(groups_.size());
  for (const PotentialKey& node : nodes) {
    count(node);
    const auto cpu = std::max(static_cast<float>(node.cpu_free), 0.5F);
    const auto memory = std::max(static_cast<float>(node.memory_free), 0.5F);
    for (const Block& block : of_model_[static_cast<std::size_t>(node.model)]) {
      const float count = counts_[block.count_at];
      for (std::size_t lane = 0; count > 0 && lane < kLanes && block.group[lane] >= 0; ++lane) {
        const float beside = std::floor(std::min(cpu * block.per_cpu[lane], memory * block.per_memory[lane]) + 1e-4F);
        takes[static_cast<std::size_t>(block.group[lane])] += static_cast<double>(std::min(beside, count));
      }
    }
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) takes[i] *= groups_[i].gpu_count * groups_[i].gpu_milli;
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const double size = static_cast<double>(groups_[i].gpu_count) * groups_[i].gpu_milli / kGpuMilli;
    const double room = std::max(takes[i] / static_cast<double>(capacity_milli), kScarcityMin);
    weights.push_back(unscaled_weight(groups_[i]) * std::pow(size, -kSizeExponent) *
                      std::pow(room, -kScarcityExponent));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

bool Potential::weigh(const std::vector<PotentialKey>& nodes, std::int64_t capacity_milli, double shift_min) {
  std::vector<double> weights = weights_on(nodes, capacity_milli);
  if (!weights_.empty()) {
    double shift = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) shift += std::max(0.0, weights[i] - weights_[i]);
    if (shift < shift_min) return false;
  }
  weights_ = std::move(weights);
  for_each_lane([&](Block& block, std::size_t lane, std::size_t group) {
    const double milli = groups_[group].gpu_count * groups_[group].gpu_milli;
    block.weight[lane] = static_cast<float>(kShareOfCounts * weights_[group] * milli);
  });
  ++weighing_;
  return true;
}

double Potential::compute(const PotentialKey& key) {
  constexpr float kAlmostOne = 1 - 1e-6F;
  const int free = count(key);
  const auto cpu = std::max(static_cast<float>(key.cpu_free), 0.5F);
  const auto memory = std::max(static_cast<float>(key.memory_free), 0.5F);
  Lanes sums = {};
  for (const Block& block : of_model_[static_cast<std::size_t>(key.model)]) {
    const float count = counts_[block.count_at];
    const float usable = usable_[block.count_at];
    if (count == 0.0F) continue;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float by_cpu = cpu * block.per_cpu[lane];
      const float by_memory = memory * block.per_memory[lane];
      const float beside = by_cpu < by_memory ? by_cpu : by_memory;
      const float fitting = beside < count ? beside : count;
      const float worth = block.weight[lane] * fitting + block.weight_usable[lane] * usable;
      sums[lane] += beside >= kAlmostOne ? worth : 0.0F;
    }
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
  Slot& slot = slots_[PotentialKeyHash()(key) % kSlots];
  if (slot.weighing != weighing_ || slot.key != key) {
    slot = {.key = key, .value = compute(key), .weighing = weighing_};
  }
  return slot.value;
}

}  // namespace berth::placement
