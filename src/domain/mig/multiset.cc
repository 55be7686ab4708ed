#include "domain/mig/multiset.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/core/ensure.h"
#include "domain/mig/detail/occupancy.h"

namespace berth::mig {
namespace {

/// One search: profiles from the longest to the shortest, each profile's instances at ascending starts.
class Placer {
 public:
  Placer(const GpuModel& model, Multiset wanted, bool is_before_r510)
      : model_(model), wanted_(std::move(wanted)), plain_(plain_rules(model)), occupancy_(model, is_before_r510) {
    const auto rank = [&model](const ProfileCount& item) {
      return std::tuple(-model.profiles[item.profile.index].length, item.profile);
    };
    std::ranges::sort(wanted_, {}, rank);
  }

  std::optional<State> run() {
    place(0, 0, 0);
    return best_;
  }

 private:
  /// Places the rest: `placed` instances of wanted_[index] are placed, the next one starts at or after starts[first].
  void place(std::size_t index, int placed, std::size_t first) {
    if (index == wanted_.size()) return keep();
    const ProfileCount& item = wanted_[index];
    if (placed == item.count) return place(index + 1, 0, 0);
    const std::vector<int>& starts = model_.profiles[item.profile.index].starts;
    for (std::size_t i = first; i < starts.size(); ++i) {
      const Placement placement = {starts[i], item.profile};
      const detail::Candidate candidate = {placement, detail::units_of(model_, placement)};
      if (!occupancy_.accepts(candidate)) continue;
      occupancy_.add(candidate);
      chosen_.push_back(placement);
      place(index, placed + 1, i + 1);
      chosen_.pop_back();
      occupancy_.remove(candidate);
    }
  }

  void keep() {
    State state = chosen_;
    std::ranges::sort(state);
    const int blocked = blocked_length(model_, state, plain_).blocked;
    if (best_ && std::tie(best_blocked_, *best_) <= std::tie(blocked, state)) return;
    best_ = std::move(state);
    best_blocked_ = blocked;
  }

  const GpuModel& model_;
  Multiset wanted_;
  Rules plain_;
  detail::Occupancy occupancy_;
  State chosen_;
  std::optional<State> best_;
  int best_blocked_ = 0;
};

}  // namespace

Multiset multiset_of(const State& state) {
  std::map<ProfileId, int> counts;
  for (const Placement& placement : state) ++counts[placement.profile];
  Multiset multiset;
  for (const auto& [profile, count] : counts) multiset.push_back({profile, count});
  return multiset;
}

std::optional<State> place_multiset(const GpuModel& model, const Multiset& wanted, bool is_before_r510) {
  for (const ProfileCount& item : wanted) {
    ENSURE(item.profile.index < model.profiles.size() && item.count > 0);
    if (item.count > model.profiles[item.profile.index].instances_max) return std::nullopt;
  }
  return Placer(model, wanted, is_before_r510).run();
}

}  // namespace berth::mig
