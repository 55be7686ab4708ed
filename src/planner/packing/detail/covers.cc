#include "planner/packing/detail/covers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/sort_stably.h"

namespace berth::packing::detail {
namespace {

/// Doubles only prune here, and on the safe side: the margin is far larger than their rounding.
constexpr double kSafely = 1 - 1e-9;

std::int64_t slices_for(Int128 rate, Int128 throughput) {
  return rate <= 0 ? 0 : static_cast<std::int64_t>((rate + throughput - 1) / throughput);
}

/// A kind that can serve the demand.
struct Server {
  std::size_t kind = 0;
  Int128 throughput = 0;
};

std::vector<Server> servers_of(const InstanceDemand& demand) {
  std::vector<Server> servers;
  for (std::size_t k = 0; k < demand.throughput.size(); ++k) {
    if (demand.throughput[k] > 0) servers.push_back({k, demand.throughput[k]});
  }
  return servers;
}

class LightestSearch {
 public:
  LightestSearch(const InstanceDemand& demand, const Weights& weights)
      : demand_(demand), weights_(weights), servers_(servers_of(demand)) {
    ENSURE(!servers_.empty());
    sort_stably(servers_, [this](const Server& server) { return ratio(server); });
    chosen_.assign(demand.throughput.size(), 0);
  }

  LightestCover run() {
    visit(0, demand_.rate, 0);
    const double least = ratio(servers_.front()) * static_cast<double>(demand_.rate) * kSafely;
    const std::int64_t bound = is_cut_ ? std::min(best_weight_, static_cast<std::int64_t>(least)) : best_weight_;
    return {best_, bound};
  }

 private:
  [[nodiscard]] double ratio(const Server& server) const {
    return static_cast<double>(weights_.of_kind(server.kind)) / static_cast<double>(server.throughput);
  }

  void visit(std::size_t depth, Int128 rate, std::int64_t weight) {
    if (++nodes_ > kNodesMax) is_cut_ = true;
    const Server& server = servers_[depth];
    const std::int64_t unit = weights_.of_kind(server.kind);
    const std::int64_t most = std::min(slices_for(rate, server.throughput), kSlicesMax);
    const bool is_last = depth + 1 == servers_.size();
    for (std::int64_t n = most; n >= 0; --n) {
      const Int128 rest = rate - n * server.throughput;
      chosen_[server.kind] = static_cast<std::int32_t>(n);
      const std::int64_t now = weight + n * unit;
      if (rest <= 0) {
        keep(now);
      } else if (is_last || is_hopeless(now, rest, depth + 1)) {
        break;  // fewer of this kind can only be heavier
      } else {
        visit(depth + 1, rest, now);
      }
      if (is_cut_) break;
    }
    chosen_[server.kind] = 0;
  }

  [[nodiscard]] bool is_hopeless(std::int64_t weight, Int128 rest, std::size_t depth) const {
    if (best_.empty()) return false;
    const double least = ratio(servers_[depth]) * static_cast<double>(rest) * kSafely;
    return static_cast<double>(weight) + least > static_cast<double>(best_weight_ - 1) + 0.5;
  }

  void keep(std::int64_t weight) {
    if (!best_.empty() && weight >= best_weight_) return;
    best_ = chosen_;
    best_weight_ = weight;
  }

  static constexpr std::int64_t kNodesMax = 20'000;

  const InstanceDemand& demand_;
  const Weights& weights_;
  std::vector<Server> servers_;
  Counts chosen_;
  Counts best_;
  std::int64_t best_weight_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t nodes_ = 0;
  bool is_cut_ = false;
};

class CoverEnumeration {
 public:
  CoverEnumeration(const InstanceDemand& demand, std::span<const CoverLimit> limits, std::size_t count_max,
                   Budget& budget)
      : demand_(demand), limits_(limits), count_max_(count_max), budget_(budget), servers_(servers_of(demand)) {
    // The fastest first: then the last kind used is the slowest, and no slice is surplus iff none of that kind is.
    sort_stably(servers_, &Server::throughput, std::greater<>());
    chosen_.assign(demand.throughput.size(), 0);
    for (const CoverLimit& limit : limits_) least_ratio_.push_back(ratios_to_come(*limit.weights));
  }

  CoverList run() {
    visit(0, demand_.rate, std::vector<std::int64_t>(limits_.size(), 0));
    const Weights& first = *limits_.front().weights;
    std::ranges::sort(list_.covers, [&](const Counts& a, const Counts& b) {
      const std::int64_t a_weight = first.of(a);
      const std::int64_t b_weight = first.of(b);
      return a_weight != b_weight ? a_weight < b_weight : a < b;
    });
    return std::move(list_);
  }

 private:
  /// By depth: the least weight for a unit of throughput among this and all later kinds.
  [[nodiscard]] std::vector<double> ratios_to_come(const Weights& weights) const {
    std::vector<double> ratios(servers_.size(), 0);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = servers_.size(); i-- > 0;) {
      least = std::min(
          least, static_cast<double>(weights.of_kind(servers_[i].kind)) / static_cast<double>(servers_[i].throughput));
      ratios[i] = least;
    }
    return ratios;
  }

  void visit(std::size_t depth, Int128 rate, const std::vector<std::int64_t>& weight) {
    const Server& server = servers_[depth];
    const std::int64_t most = std::min(slices_for(rate, server.throughput), kSlicesMax + 1);
    std::vector<std::int64_t> now = weight;
    for (std::int64_t n = 0; n <= most && list_.is_complete; ++n) {
      if (++budget_.nodes >= budget_.nodes_max) list_.is_complete = false;
      const Int128 rest = rate - n * server.throughput;
      chosen_[server.kind] = static_cast<std::int32_t>(n);
      if (rest <= 0) {
        if (is_allowed(now)) keep();
      } else if (depth + 1 < servers_.size() && may_fit(now, rest, depth + 1)) {
        visit(depth + 1, rest, now);
      }
      for (std::size_t i = 0; i < limits_.size(); ++i) now[i] += limits_[i].weights->of_kind(server.kind);
      if (!is_allowed(now)) break;
    }
    chosen_[server.kind] = 0;
  }

  [[nodiscard]] bool is_allowed(const std::vector<std::int64_t>& weight) const {
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      if (weight[i] > limits_[i].weight_max) return false;
    }
    return true;
  }

  [[nodiscard]] bool may_fit(const std::vector<std::int64_t>& weight, Int128 rest, std::size_t depth) const {
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      const double least = least_ratio_[i][depth] * static_cast<double>(rest) * kSafely;
      if (static_cast<double>(weight[i]) + least > static_cast<double>(limits_[i].weight_max) + 0.5) return false;
    }
    return true;
  }

  void keep() {
    if (list_.covers.size() == count_max_) {
      list_.is_complete = false;
      return;
    }
    list_.covers.push_back(chosen_);
  }

  const InstanceDemand& demand_;
  std::span<const CoverLimit> limits_;
  std::size_t count_max_;
  Budget& budget_;
  std::vector<Server> servers_;
  std::vector<std::vector<double>> least_ratio_;  ///< by limit, then depth
  Counts chosen_;
  CoverList list_;
};

}  // namespace

std::int64_t Weights::of(const Counts& counts) const {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) sum += counts[k] * of_kind(k);
  return sum;
}

LightestCover lightest_cover(const InstanceDemand& demand, const Weights& weights) {
  return LightestSearch(demand, weights).run();
}

CoverList minimal_covers(const InstanceDemand& demand, std::span<const CoverLimit> limits, std::size_t count_max,
                         Budget& budget) {
  ENSURE(!limits.empty());
  return CoverEnumeration(demand, limits, count_max, budget).run();
}

}  // namespace berth::packing::detail
