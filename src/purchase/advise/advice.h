/// The answer of `berth advise`: instances to buy, with the pods that run on each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "purchase/pricing/offer.h"

namespace berth::purchase::advise {

/// A pod on an instance. `gpus`: the indices of its GPUs, ascending from 0; empty for a pod without GPUs.
struct SeatedPod {
  std::size_t row = 0;  ///< of the list of pods
  std::vector<int> gpus;

  friend bool operator==(const SeatedPod&, const SeatedPod&) = default;
};

/// One instance to buy. An instance is a node: its pods together fit its shape.
struct Instance {
  pricing::Offer offer;
  std::vector<SeatedPod> pods;  ///< by row

  friend bool operator==(const Instance&, const Instance&) = default;
};

/// The cost of a common rule for the same pods and offers.
struct Rival {
  std::string name;
  std::int64_t micro_usd_per_hour = 0;

  friend bool operator==(const Rival&, const Rival&) = default;
};

struct Advice {
  std::int64_t micro_usd_per_hour = 0;        ///< of all instances together
  std::int64_t bound_micro_usd_per_hour = 0;  ///< no set of instances that holds all pods costs less
  std::vector<Instance> instances;            ///< the most expensive first
  std::vector<Rival> rivals;                  ///< `ffd`, `cheapest-fit`
  std::int64_t nodes = 0;                     ///< used by the search

  [[nodiscard]] bool is_proven() const { return micro_usd_per_hour == bound_micro_usd_per_hour; }
  friend bool operator==(const Advice&, const Advice&) = default;
};

}  // namespace berth::purchase::advise
