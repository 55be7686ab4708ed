#include "sim/world/rented_gpus.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::sim {

RentedGpus::RentedGpus(const Scenario& scenario, std::optional<std::uint32_t> at_start, const JournalSink& journal)
    : journal_(journal), states_(scenario.gpu_count(), State::kHere) {
  if (scenario.provision_seconds) provision_ = Micros::seconds(*scenario.provision_seconds);
  ENSURE(!at_start || (is_elastic() && *at_start <= states_.size()));
  if (at_start) std::fill(states_.begin() + *at_start, states_.end(), State::kAbsent);
  counts_.push_back({.from = Instant(), .gpus = std::ranges::count(states_, State::kHere)});
  if (!is_elastic() || !journal_) return;
  for (std::uint32_t gpu = 0; gpu < states_.size(); ++gpu) {
    if (is_here({gpu})) journal_(GpuRecord{.at = Instant(), .gpu = {gpu}, .is_on = true});
  }
}

void RentedGpus::order(GpuId gpu, Instant now) {
  ENSURE(is_elastic() && is_absent(gpu));
  states_[gpu.index] = State::kOrdered;
  arrivals_.emplace(now + *provision_, gpu);
  count(gpu, true, now);
}

bool RentedGpus::release(GpuId gpu, Instant now) {
  ENSURE(is_elastic() && !is_absent(gpu));
  leaving_.insert(gpu);
  if (is_here(gpu)) return false;
  std::erase_if(arrivals_, [gpu](const auto& arrival) { return arrival.second == gpu; });
  give_back(gpu, now);
  return true;
}

void RentedGpus::give_back(GpuId gpu, Instant now) {
  ENSURE(leaving_.contains(gpu));
  leaving_.erase(gpu);
  states_[gpu.index] = State::kAbsent;
  count(gpu, false, now);
}

std::vector<GpuId> RentedGpus::take_arrived(Instant now) {
  std::vector<GpuId> arrived;
  while (!arrivals_.empty() && arrivals_.begin()->first <= now) {
    const GpuId gpu = arrivals_.begin()->second;
    arrivals_.erase(arrivals_.begin());
    states_[gpu.index] = State::kHere;
    arrived.push_back(gpu);
  }
  return arrived;
}

std::int64_t RentedGpus::paid_us(Instant now) const {
  std::int64_t paid = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const Instant until = i + 1 < counts_.size() ? counts_[i + 1].from : now;
    paid += counts_[i].gpus * (until - counts_[i].from).count();
  }
  return paid;
}

void RentedGpus::count(GpuId gpu, bool is_on, Instant now) {
  const std::int64_t gpus = counts_.back().gpus + (is_on ? 1 : -1);
  if (counts_.back().from != now) counts_.push_back({.from = now, .gpus = 0});
  counts_.back().gpus = gpus;
  if (journal_) journal_(GpuRecord{.at = now, .gpu = gpu, .is_on = is_on});
}

}  // namespace berth::sim
