/// Small questions for tests: pods and offers by hand, random ones, and the optimum by enumeration.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "domain/lists/pod_list.h"
#include "purchase/pricing/offer.h"

namespace berth::purchase::advise::reference {

inline constexpr std::int64_t kMilli = 1000;
inline constexpr std::int64_t kMibPerGib = 1024;

inline Pod pod(std::string name, std::int64_t cpus, std::int64_t memory_gib, int gpus) {
  Pod made;
  made.name = std::move(name);
  made.cpu_milli = cpus * kMilli;
  made.memory_mib = memory_gib * kMibPerGib;
  made.gpu_count = gpus;
  made.gpu_milli = gpus == 0 ? 0 : 1000;
  return made;
}

/// A share of a GPU, with 1 CPU and 1 GiB.
inline Pod shared_pod(std::string name, int gpu_milli) {
  Pod made = pod(std::move(name), 1, 1, 1);
  made.gpu_milli = gpu_milli;
  return made;
}

struct Host {
  std::int64_t cpus = 0;
  std::int64_t memory_gib = 0;
};

inline pricing::Offer offer(std::string type, const Host& host, std::string model, int gpus, std::int64_t micro_usd) {
  pricing::Offer made;
  made.key = {.provider = "cloud",
              .instance_type = std::move(type),
              .region = "here",
              .purchase = pricing::Purchase::kOnDemand};
  made.shape = {.gpu_model = std::move(model),
                .gpu_count = gpus,
                .gpu_memory_mib = 16'384,
                .vcpu_milli = host.cpus * kMilli,
                .memory_mib = host.memory_gib * kMibPerGib,
                .mig_instances_max = 0};
  made.micro_usd_per_hour = micro_usd;
  return made;
}

/// With 64 CPUs and 256 GiB.
inline pricing::Offer gpu_offer(std::string type, std::string model, int gpus, std::int64_t micro_usd) {
  return offer(std::move(type), {.cpus = 64, .memory_gib = 256}, std::move(model), gpus, micro_usd);
}

/// With one T4.
inline pricing::Offer host_offer(std::string type, std::int64_t cpus, std::int64_t memory_gib, std::int64_t micro_usd) {
  return offer(std::move(type), {.cpus = cpus, .memory_gib = memory_gib}, "t4", 1, micro_usd);
}

struct Case {
  std::vector<Pod> pods;
  std::vector<pricing::Offer> offers;
};

struct CaseSize {
  int pods = 0;
  int offers = 0;
  bool is_fine = false;  ///< hardly any two pods are equal
};

/// Pods with all kinds of GPU needs, each of which the first offer holds.
inline Case random_case(std::uint64_t seed, const CaseSize& size) {
  Rng rng = Rng(seed).split("advise-case");
  const std::vector<std::string> models = {"t4", "a10g", "l4"};
  const auto below = [&](int bound) { return static_cast<int>(rng.below(static_cast<std::uint64_t>(bound))); };
  Case made;
  made.offers.push_back(offer("most", {.cpus = 32, .memory_gib = 128}, "t4", 4, 2'000 + below(3'000)));
  made.offers.back().shape.gpu_memory_mib = 40'960;
  for (int i = 1; i < size.offers; ++i) {
    const std::int64_t scale = std::int64_t{1} << below(4);
    const Host host{.cpus = 4 * scale, .memory_gib = 8 * scale * (1 + below(3))};
    made.offers.push_back(offer("type" + std::to_string(i), host, models[rng.below(3)],
                                1 + below(static_cast<int>(scale)), 200 * scale + below(400)));
  }
  for (int i = 0; i < size.pods; ++i) {
    const int gpus = std::vector<int>{0, 1, 1, 1, 1, 2, 3}[rng.below(7)];
    Pod made_pod = pod("p" + std::to_string(i), 1 + below(12), 1 + below(40), gpus);
    if (gpus == 1 && below(3) > 0)
      made_pod.gpu_milli = std::vector<int>{230, 320, 470, 500, 590, 650, 810}[rng.below(7)];
    if (below(6) == 0) made_pod.gpu_models = {"T4", below(2) == 0 ? "A10G" : "H100"};
    if (below(8) == 0) made_pod.gpu_memory_mib = std::int64_t{1'000} * (1 + below(30));
    if (size.is_fine) made_pod.cpu_milli -= below(900);
    if (size.is_fine) made_pod.memory_mib -= below(900);
    made.pods.push_back(std::move(made_pod));
  }
  return made;
}

/// Whether shares fit GPUs, by trying all ways.
inline bool shares_fit(const std::vector<int>& sizes, std::vector<int>& free, std::size_t at = 0) {
  if (at == sizes.size()) return true;
  for (int& gpu : free) {
    if (gpu < sizes[at]) continue;
    gpu -= sizes[at];
    const bool fits = shares_fit(sizes, free, at + 1);
    gpu += sizes[at];
    if (fits) return true;
  }
  return false;
}

/// Whether an offer holds pods together, straight from the definition.
inline bool holds(const pricing::Offer& offered, const std::vector<const Pod*>& pods) {
  const pricing::Shape& shape = offered.shape;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  int whole = 0;
  std::vector<int> sizes;
  for (const Pod* one : pods) {
    cpu += one->cpu_milli;
    memory += one->memory_mib;
    if (one->gpu_count == 0) continue;
    const auto is_model = [&](std::string wanted) {
      for (char& c : wanted) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      return wanted == shape.gpu_model;
    };
    if (!one->gpu_models.empty() && std::ranges::none_of(one->gpu_models, is_model)) return false;
    if (one->gpu_memory_mib > shape.gpu_memory_mib) return false;
    if (one->is_shared()) {
      sizes.push_back(one->gpu_milli);
    } else {
      whole += one->gpu_count;
    }
  }
  if (cpu > shape.vcpu_milli || memory > shape.memory_mib || whole > shape.gpu_count) return false;
  std::vector<int> free(static_cast<std::size_t>(shape.gpu_count - whole), 1000);
  return shares_fit(sizes, free);
}

/// The cheapest cost, by trying every partition of the pods into groups.
class Enumeration {
 public:
  explicit Enumeration(const Case& of) : of_(of) {}

  std::int64_t optimum() {
    place(0, 0);
    return best_;
  }

 private:
  std::int64_t cheapest(const std::vector<const Pod*>& group) const {
    std::int64_t best = kNone;
    for (const pricing::Offer& offered : of_.offers) {
      if (*offered.micro_usd_per_hour < best && holds(offered, group)) best = *offered.micro_usd_per_hour;
    }
    return best;
  }

  /// The next pod joins one of the groups, or begins a new one. `cost`: of the groups so far; it never falls.
  void place(std::size_t at, std::int64_t cost) {
    if (cost >= best_) return;
    if (at == of_.pods.size()) {
      best_ = cost;
      return;
    }
    for (std::size_t group = 0; group <= groups_.size(); ++group) {
      const bool is_new = group == groups_.size();
      if (is_new) groups_.emplace_back();
      const std::int64_t before = is_new ? 0 : cheapest(groups_[group]);
      groups_[group].push_back(&of_.pods[at]);
      const std::int64_t now = cheapest(groups_[group]);
      if (now < kNone) place(at + 1, cost - before + now);
      groups_[group].pop_back();
      if (is_new) {
        groups_.pop_back();
        break;
      }
    }
  }

  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max() / 2;
  const Case& of_;
  std::vector<std::vector<const Pod*>> groups_;
  std::int64_t best_ = kNone;
};

}  // namespace berth::purchase::advise::reference
