#include "planner/goodput_bound/detail/supply.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "domain/mig/site_map.h"
#include "domain/profile/operating_point.h"
#include "domain/values/performance.h"

namespace berth::bound::detail {
namespace {

/// Latencies are computed in doubles here: this much (in microseconds) is subtracted before they are rounded, more than
/// the error of doubles.
constexpr double kSlackMicros = 1e-6;
constexpr double kMicrosPerMilli = 1e3;

double rate_of(double processes, double answers, double latency_us) {
  if (answers <= 0) return 0;
  if (latency_us <= 0) return kUnlimitedPerSecond;
  return std::min(kUnlimitedPerSecond, processes * answers / latency_us * 1e6);
}

/// The best rate of answers in time over points and batch sizes n, by how many requests arrive close together: with at
/// most a of them in the last target - latency(n), a batch of n gives min(n, a) answers in time.
class RateCurve {
 public:
  RateCurve(const Crowds& crowds, std::int64_t target_us) : crowds_(crowds), target_us_(target_us) {
    by_steps_.resize(crowds.is_known() ? static_cast<std::size_t>(crowds.steps_max()) + 1 : 1);
  }

  /// A batch size of a point; `latency_us` is not above the true one.
  void add(double processes, int batch, double latency_us) {
    if (latency_us > static_cast<double>(target_us_)) return;
    const double window_us = static_cast<double>(target_us_) - std::max(0.0, latency_us);
    const std::size_t steps =
        crowds_.is_known() ? static_cast<std::size_t>(crowds_.steps_of(static_cast<std::int64_t>(std::ceil(window_us))))
                           : 0;
    std::vector<Best>& best = by_steps_[steps];
    const auto size = static_cast<std::size_t>(batch);
    if (best.size() <= size) best.resize(size + 1);
    best[size].full = std::max(best[size].full, rate_of(processes, batch, latency_us));
    best[size].each = std::max(best[size].each, rate_of(processes, 1, latency_us));
  }

  /// To be called once, after the last `add`.
  void close() {
    for (std::vector<Best>& best : by_steps_) {
      for (std::size_t n = 1; n < best.size(); ++n) best[n].full = std::max(best[n].full, best[n - 1].full);
      for (std::size_t n = best.size(); n-- > 1;) best[n - 1].each = std::max(best[n - 1].each, best[n].each);
      if (!best.empty()) most_ = std::max(most_, best.back().full);
    }
  }

  /// Over all possible arrivals.
  [[nodiscard]] double most() const { return most_; }

  [[nodiscard]] double in_block(int block) const {
    if (!crowds_.is_known()) return most_;
    double rate = 0;
    for (std::size_t steps = 0; steps < by_steps_.size(); ++steps) {
      const std::vector<Best>& best = by_steps_[steps];
      if (best.empty()) continue;
      const auto crowd = static_cast<std::size_t>(crowds_.most(static_cast<int>(steps), block));
      const std::size_t n = std::min(crowd, best.size() - 1);
      rate = std::max(rate, best[n].full);
      if (n + 1 < best.size())
        rate = std::max(rate, std::min(kUnlimitedPerSecond, best[n + 1].each * static_cast<double>(n)));
    }
    return rate;
  }

 private:
  /// [n]: `full` batches of at most n; `each` request of batches of at least n.
  struct Best {
    double full = 0;
    double each = 0;
  };
  const Crowds& crowds_;
  std::int64_t target_us_;
  std::vector<std::vector<Best>> by_steps_;
  double most_ = 0;
};

/// The most answers in time, alone and among others.
struct AnswerRates {
  RateCurve alone;
  RateCurve shared;
};

/// Over every point that a plan may choose there (profile::point_for: every row of the table) and every batch size up
/// to its limit, at the latencies of domain/profile/operating_point.h, times the least factor of interference, rounded
/// as the simulator does. Shared slices multiply by f >= 1 before rounding: round(f x latency) >= f x (latency - 1/2),
/// so a rate at factor f is at most `shared` / f.
AnswerRates best_rates(const PerformanceTable& table, const GpuModel& model, ProfileId profile, double factor,
                       AnswerRates rates) {
  std::map<std::pair<int, int>, double> rows;  // (processes, batch) -> latency in microseconds
  for (const PerformancePoint& point : profile::points_on(table, model, profile)) {
    rows[{point.processes, point.batch}] = point.latency_ms.to_double() * kMicrosPerMilli;
  }
  std::pair<int, int> below{0, 0};
  double below_us = 0;
  for (const auto& [row, latency_us] : rows) {
    const bool is_first = row.first != below.first;
    const int low = is_first ? 0 : below.second;
    for (int n = low + 1; n <= row.second; ++n) {
      const double share = is_first ? 1 : static_cast<double>(n - low) / (row.second - low);
      const double at_n = is_first ? latency_us : below_us + (latency_us - below_us) * share;
      rates.alone.add(row.first, n, std::floor(at_n * factor + 0.5 - kSlackMicros));
      rates.shared.add(row.first, n, at_n - 0.5 - kSlackMicros);
    }
    below = row;
    below_us = latency_us;
  }
  rates.alone.close();
  rates.shared.close();
  return rates;
}

/// All goods of a scenario, whether a GPU makes them or not.
std::vector<Good> all_goods(const Scenario& scenario) {
  std::vector<Good> goods;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& service = scenario.services[index];
    const double plumbing = scenario.changes.plumbing.to_seconds();
    for (int variant = 0; variant <= static_cast<int>(service.variants.size()); ++variant) {
      goods.push_back({.service = index, .variant = variant, .dead_seconds = plumbing + service.start.to_seconds()});
    }
    if (service.retraining) goods.push_back({.service = index, .variant = kRetrainingGood, .dead_seconds = plumbing});
  }
  return goods;
}

const PerformanceTable& table_of(const ServiceSpec& service, int variant) {
  return variant == 0 ? service.table : service.variants[static_cast<std::size_t>(variant) - 1].table;
}

/// Builds the group of one GPU model.
class GroupMaker {
 public:
  GroupMaker(const Scenario& scenario, Blocks blocks, const std::vector<Crowds>& crowds, bool is_shared,
             std::vector<Good>& goods, const GpuModel& model)
      : scenario_(scenario), blocks_(blocks), crowds_(crowds), is_shared_(is_shared), goods_(goods), model_(model) {
    factor_ = scenario.interference.front().to_double();
    for (const Decimal& factor : scenario.interference) factor_ = std::min(factor_, factor.to_double());
  }

  GpuGroup make() {
    std::vector<ProfileId> profiles;
    for (const ProfileId profile : mig::with_full(model_, mig::all_rules(model_))) {
      if (kind_of(profile)) profiles.push_back(profile);
    }
    const mig::SiteMap map = mig::make_site_map(model_, profiles);
    std::vector<Counts> sets;
    for (const std::vector<mig::SiteIndex>& partition : mig::maximal_partitions(model_, map)) {
      Counts& counts = sets.emplace_back();
      for (const mig::SiteIndex site : partition) ++counts[*kind_of(map.sites[static_cast<std::size_t>(site)].profile)];
    }
    group_.sets = worthwhile(std::move(sets));
    return std::move(group_);
  }

 private:
  using Counts = std::map<std::uint32_t, double>;

  /// The kind of a profile, created if it is new; nothing if the profile makes no good.
  std::optional<std::uint32_t> kind_of(ProfileId profile) {
    const auto known = kinds_.find(profile);
    if (known != kinds_.end()) return known->second;
    std::vector<Yield> yields;
    for (std::uint32_t good = 0; good < goods_.size(); ++good) {
      Yield yield = yield_of(good, profile);
      if (!yield.alone.empty()) yields.push_back(std::move(yield));
    }
    std::optional<std::uint32_t> kind;
    if (!yields.empty()) kind = index_of(std::move(yields));
    kinds_.emplace(profile, kind);
    return kind;
  }

  std::uint32_t index_of(std::vector<Yield> yields) {
    const auto is_same = [&](const SliceKind& kind) {
      return std::ranges::equal(kind.yields, yields, [](const Yield& a, const Yield& b) {
        return a.good == b.good && a.alone == b.alone && a.shared == b.shared;
      });
    };
    const auto same = std::ranges::find_if(group_.kinds, is_same);
    const auto index = static_cast<std::uint32_t>(same - group_.kinds.begin());
    if (same == group_.kinds.end()) group_.kinds.push_back({std::move(yields)});
    return index;
  }

  /// Empty if it makes nothing.
  [[nodiscard]] Yield yield_of(std::uint32_t index, ProfileId profile) {
    Good& good = goods_[index];
    const ServiceSpec& service = scenario_.services[good.service];
    Yield yield{.good = index, .alone = {}, .shared = {}};
    if (good.is_retraining()) {
      const auto time = retraining_time_on(*service.retraining, model_, profile);
      if (!time) return yield;
      const double per_second = time->count() <= 0 ? kUnlimitedPerSecond : 1 / time->to_seconds();
      good.per_second_max = std::max(good.per_second_max, per_second);
      yield.alone = by_block([&](int) { return per_second; });
      return yield;
    }
    const Crowds& crowds = crowds_[good.service];
    // At fidelity `rates` nothing is late if a service drops nothing and keeps up, however slow its batches are.
    const bool is_timeless = scenario_.fidelity == Fidelity::kRates && service.drop == DropRule::kNever;
    const std::int64_t target_us = is_timeless ? std::numeric_limits<std::int64_t>::max() : service.target.count();
    const AnswerRates rates =
        best_rates(table_of(service, good.variant), model_, profile, factor_,
                   {.alone = RateCurve(crowds, target_us), .shared = RateCurve(crowds, target_us)});
    const double most = is_shared_ ? std::max(rates.alone.most(), rates.shared.most()) : rates.alone.most();
    if (most <= 0) return yield;
    good.per_second_max = std::max(good.per_second_max, most);
    yield.alone = by_block([&](int block) { return rates.alone.in_block(block); });
    if (is_shared_) yield.shared = by_block([&](int block) { return rates.shared.in_block(block); });
    return yield;
  }

  template <class PerSecond>
  [[nodiscard]] std::vector<double> by_block(const PerSecond& per_second) const {
    std::vector<double> amounts;
    amounts.reserve(static_cast<std::size_t>(blocks_.count()));
    for (int block = 0; block < blocks_.count(); ++block) {
      amounts.push_back(per_second(block) * blocks_.length(block));
    }
    return amounts;
  }

  /// The sets that are not contained in another set.
  static std::vector<SliceSet> worthwhile(std::vector<Counts> sets) {
    std::ranges::sort(sets);
    const auto repeated = std::ranges::unique(sets);
    sets.erase(repeated.begin(), repeated.end());
    const auto holds = [](const Counts& outer, const Counts& inner) {
      return std::ranges::all_of(inner, [&](const auto& part) {
        const auto it = outer.find(part.first);
        return it != outer.end() && it->second >= part.second;
      });
    };
    std::vector<SliceSet> kept;
    for (const Counts& set : sets) {
      const bool is_held =
          std::ranges::any_of(sets, [&](const Counts& other) { return other != set && holds(other, set); });
      if (is_held) continue;
      SliceSet result;
      for (const auto& [kind, count] : set) result.counts.push_back({.kind = kind, .count = count});
      kept.push_back(std::move(result));
    }
    return kept;
  }

  const Scenario& scenario_;
  Blocks blocks_;
  const std::vector<Crowds>& crowds_;
  bool is_shared_;
  std::vector<Good>& goods_;
  const GpuModel& model_;
  double factor_ = 1;
  std::map<ProfileId, std::optional<std::uint32_t>> kinds_;
  GpuGroup group_;
};

}  // namespace

Supply make_supply(const Scenario& scenario, Blocks blocks, const std::vector<Crowds>& crowds, bool is_shared) {
  Supply supply;
  supply.goods = all_goods(scenario);
  std::map<std::string, std::size_t> group_of_model;
  for (const FleetEntry& entry : scenario.fleet) {
    const auto [known, is_new] = group_of_model.emplace(entry.model.name, supply.groups.size());
    if (is_new) {
      supply.groups.push_back(GroupMaker(scenario, blocks, crowds, is_shared, supply.goods, entry.model).make());
    }
    supply.groups[known->second].gpu_count += static_cast<double>(entry.count);
  }
  return supply;
}

}  // namespace berth::bound::detail
