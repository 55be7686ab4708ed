// Depth-first searches over the placements of one GPU: each set is reached once, by adding its instances in one order.

#include <algorithm>
#include <tuple>

#include "domain/mig/detail/occupancy.h"
#include "domain/mig/geometry.h"
#include "domain/values/gpu.h"

namespace berth::mig {
namespace {

using detail::Candidate;
using detail::Occupancy;

/// Visits every legal set of candidates, each as soon as its last member (in their order) is added.
class Search {
 public:
  Search(const GpuModel& model, const Rules& rules, std::vector<Candidate> candidates)
      : candidates_(std::move(candidates)), occupancy_(model, rules.is_before_r510) {}

  void run(const std::function<void(const Search&)>& visit, std::size_t first = 0) {
    visit(*this);
    for (std::size_t i = first; i < candidates_.size(); ++i) {
      if (!occupancy_.accepts(candidates_[i])) continue;
      occupancy_.add(candidates_[i]);
      chosen_.push_back(candidates_[i].placement);
      run(visit, i + 1);
      chosen_.pop_back();
      occupancy_.remove(candidates_[i]);
    }
  }

  /// The set visited, sorted.
  [[nodiscard]] State state() const {
    State sorted = chosen_;
    std::ranges::sort(sorted);
    return sorted;
  }
  [[nodiscard]] bool is_maximal() const {
    return std::ranges::none_of(candidates_, [this](const Candidate& c) { return occupancy_.accepts(c); });
  }

 private:
  std::vector<Candidate> candidates_;
  Occupancy occupancy_;
  State chosen_;  ///< in the order of the candidates
};

}  // namespace

void for_each_state(const GpuModel& model, const Rules& rules, const std::function<void(const State&)>& visit) {
  std::vector<Candidate> candidates = detail::candidates_of(model, rules);
  std::ranges::sort(candidates, {}, &Candidate::placement);
  Search search(model, rules, std::move(candidates));
  search.run([&visit](const Search& at) { visit(at.state()); });
}

std::vector<State> maximal_layouts(const GpuModel& model, const Rules& rules) {
  std::vector<Candidate> candidates = detail::candidates_of(model, rules);
  const auto rank = [&model](const Candidate& c) {
    return std::tuple(-profile_sms(model, c.placement.profile), c.placement.profile, c.placement.start);
  };
  std::ranges::sort(candidates, {}, rank);
  std::vector<State> layouts;
  Search search(model, rules, std::move(candidates));
  search.run([&layouts](const Search& at) {
    if (at.is_maximal()) layouts.push_back(at.state());
  });
  return layouts;
}

}  // namespace berth::mig
