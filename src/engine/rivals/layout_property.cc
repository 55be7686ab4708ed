// gtest comes first: rapidcheck/gtest.h needs its macros.
#include <gtest/gtest.h>
//
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "base/core/test_cases.h"
#include "engine/rivals/detail/test_scenario.h"
#include "engine/rivals/layout.h"

namespace berth::partition {
namespace {

using testing::can_serve;
using testing::expect_sound;
using testing::for_each_layout;
using testing::is_covering;
using testing::random_scenario;
using testing::show;

/// The objective of static_even, minimised: the difference of SMs, then minus the SMs.
std::pair<std::int64_t, std::int64_t> unevenness(const Scenario& scenario, const Layout& layout) {
  std::vector<std::int64_t> sums(scenario.services.size(), 0);
  std::int64_t total = 0;
  for (const Holding& holding : layout) {
    const int sms = profile_sms(scenario.model_of(holding.slice.gpu), holding.slice.profile);
    sums[holding.services.front().index] += sms;
    total += sms;
  }
  const auto [least, most] = std::ranges::minmax(sums);
  return {most - least, -total};
}

std::optional<std::pair<std::int64_t, std::int64_t>> least_unevenness(const Scenario& scenario) {
  std::optional<std::pair<std::int64_t, std::int64_t>> least;
  for_each_layout(scenario, [&](const Layout& layout) {
    if (!is_covering(scenario, layout)) return;
    const auto value = unevenness(scenario, layout);
    if (!least || value < *least) least = value;
  });
  return least;
}

/// An artificial figure of a service on an ordered list of slices: concave in its capacity, and slightly different for
/// each list.
double made_up_score(const Scenario& scenario, std::uint64_t seed, ServiceId service,
                     const std::vector<Slice>& slices) {
  double capacity = 0;
  std::uint64_t list = seed + service.index;
  for (const Slice& slice : slices) {
    const GpuModel& model = scenario.model_of(slice.gpu);
    const auto point = profile::choose_point(scenario.services[service.index], model, slice.profile);
    if (point) capacity += point->requests_per_second.to_double();
    list = Rng(list).split(model.name + profile_name(model, slice.profile))();
  }
  const double load = 100 + static_cast<double>(Rng(seed).split("load", service.index).below(2000));
  return std::min(1.0, capacity / load) + 0.02 * Rng(list).unit();
}

StaticBestSearch made_up_search(const Scenario& scenario, std::uint64_t seed) {
  StaticBestSearch search;
  search.weights.assign(scenario.services.size(), 1.0);
  search.score_service = [&scenario, seed](ServiceId service, const std::vector<Slice>& slices) {
    return made_up_score(scenario, seed, service, slices);
  };
  search.score_layout = [&scenario, seed](const Layout& layout) {
    double total = 0;
    for (std::uint32_t i = static_cast<std::uint32_t>(scenario.services.size()); i-- > 0;) {
      total = made_up_score(scenario, seed, {i}, slices_of(layout, {i})) + total;
    }
    return total;
  };
  return search;
}

/// The best score of any layout, recomputed except for a cache by service and list; nothing if none is allowed.
std::optional<double> best_score(const Scenario& scenario, const StaticBestSearch& search) {
  std::map<std::pair<ServiceId, std::vector<Slice>>, double> known;
  std::optional<double> best;
  for_each_layout(scenario, [&](const Layout& layout) {
    if (search.serves_every_service && !is_covering(scenario, layout)) return;
    double total = 0;
    for (std::uint32_t i = static_cast<std::uint32_t>(scenario.services.size()); i-- > 0;) {
      const auto slices = slices_of(layout, {i});
      const auto [entry, is_new] = known.try_emplace({ServiceId{i}, slices});
      if (is_new) entry->second = search.score_service({i}, slices);
      total = entry->second + total;
    }
    if (!best || total > *best) best = total;
  });
  return best;
}

std::vector<std::vector<std::uint32_t>> random_history(Rng& rng, std::size_t service_count) {
  std::vector<std::vector<std::uint32_t>> history(service_count);
  for (auto& seconds : history) {
    seconds.resize(rng.below(20));
    for (std::uint32_t& count : seconds) count = static_cast<std::uint32_t>(rng.below(500));
  }
  return history;
}

const std::vector<std::string> kMixedModels = {"A100-80GB", "A30-24GB", "T4-16GB"};

RC_GTEST_PROP(StaticEven, IsOptimalOnOneGpu, (std::uint64_t seed)) {
  Rng rng(seed);
  const auto service_count = static_cast<std::uint32_t>(1 + rng.below(4));
  const Scenario scenario = random_scenario(rng, {kMixedModels[rng.below(3)]}, 1, service_count);
  const LayoutOrInfeasible answer = static_even_layout(scenario);
  const auto least = least_unevenness(scenario);
  RC_ASSERT(std::holds_alternative<Layout>(answer) == least.has_value());
  if (!least) return;
  expect_sound(scenario, std::get<Layout>(answer));
  RC_ASSERT(unevenness(scenario, std::get<Layout>(answer)) == *least);
}

RC_GTEST_PROP(StaticBest, IsOptimalOnOneGpu, (std::uint64_t seed)) {
  Rng rng(seed);
  const auto service_count = static_cast<std::uint32_t>(1 + rng.below(3));
  const Scenario scenario = random_scenario(rng, {kMixedModels[rng.below(3)]}, 1, service_count);
  StaticBestSearch search = made_up_search(scenario, seed);
  search.serves_every_service = rng.below(2) == 0;
  search.evaluations_max = 1;  // no limit on one GPU
  const StaticBest found = static_best_layout(scenario, search);
  RC_ASSERT(found.is_exhaustive);
  const auto* layout = std::get_if<Layout>(&found.layout);
  const auto best = best_score(scenario, search);
  // A service that fits nowhere is always refused; the naive search leaves it out if that is allowed.
  if (layout == nullptr) {
    RC_ASSERT(!search.serves_every_service || !best);
    return;
  }
  expect_sound(scenario, *layout, search.serves_every_service);
  RC_ASSERT(search.score_layout(*layout) == *best);

  search.is_separable = false;
  search.evaluations_max = 1'000'000;
  const StaticBest by_layouts = static_best_layout(scenario, search);
  RC_ASSERT(by_layouts.is_exhaustive);
  RC_ASSERT(search.score_layout(std::get<Layout>(by_layouts.layout)) == *best);
}

RC_GTEST_PROP(EveryPolicy, GivesSoundLayoutsTheSameEachTime, (std::uint64_t seed)) {
  Rng rng(seed);
  const auto gpu_count = static_cast<std::uint32_t>(1 + rng.below(5));
  const auto service_count = static_cast<std::uint32_t>(1 + rng.below(8));
  const Scenario scenario = random_scenario(rng, kMixedModels, gpu_count, service_count);
  const auto history = random_history(rng, service_count);
  StaticBestSearch search = made_up_search(scenario, seed);
  search.is_separable = rng.below(2) == 0;
  search.evaluations_max = static_cast<int>(rng.below(300));
  const std::vector<double> load(service_count, 1.0);
  const auto answers = [&] {
    return std::vector<LayoutOrInfeasible>{shared_layout(scenario), whole_layout(scenario, load),
                                           static_even_layout(scenario), paris_layout(scenario, history),
                                           static_best_layout(scenario, search).layout};
  };
  const auto once = answers();
  RC_ASSERT(once == answers());
  for (const LayoutOrInfeasible& answer : once) {
    if (const auto* layout = std::get_if<Layout>(&answer)) expect_sound(scenario, *layout);
  }
  RC_ASSERT(!::testing::Test::HasFailure());
  // All searches use the same cover: if one finds a layout of slices, so do the others.
  const bool is_feasible = std::holds_alternative<Layout>(once[2]);
  RC_ASSERT(std::holds_alternative<Layout>(once[3]) == is_feasible);
  RC_ASSERT(std::holds_alternative<Layout>(once[4]) == is_feasible);
}

RC_GTEST_PROP(StaticBest, KeepsItsBudgetAndBeatsTheEvenLayout, (std::uint64_t seed)) {
  Rng rng(seed);
  const auto service_count = static_cast<std::uint32_t>(1 + rng.below(4));
  const Scenario scenario =
      random_scenario(rng, {"A100-80GB"}, static_cast<std::uint32_t>(2 + rng.below(3)), service_count);
  StaticBestSearch search = made_up_search(scenario, seed);
  search.is_separable = rng.below(2) == 0;
  search.evaluations_max = static_cast<int>(20 + rng.below(400));
  int calls = 0;
  search.score_service = [&, ask = search.score_service](ServiceId service, const std::vector<Slice>& slices) {
    ++calls;
    return ask(service, slices);
  };
  const auto ask_layout = search.score_layout;
  search.score_layout = [&](const Layout& layout) {
    ++calls;
    return ask_layout(layout);
  };
  const StaticBest found = static_best_layout(scenario, search);
  RC_ASSERT(calls == found.evaluations);
  RC_ASSERT(calls <= search.evaluations_max);
  const LayoutOrInfeasible even = static_even_layout(scenario);
  const auto* layout = std::get_if<Layout>(&found.layout);
  RC_ASSERT((layout != nullptr) == std::holds_alternative<Layout>(even));
  if (layout == nullptr) return;
  RC_ASSERT(!found.is_exhaustive);
  RC_ASSERT(ask_layout(*layout) >= ask_layout(std::get<Layout>(even)));
}

/// The sums of SMs by service that are possible with a layout of one GPU.
std::set<std::vector<std::int64_t>> reachable_sums(const Scenario& scenario) {
  std::set<std::vector<std::int64_t>> sums;
  for_each_layout(scenario, [&](const Layout& layout) {
    std::vector<std::int64_t> of_layout(scenario.services.size(), 0);
    for (const Holding& holding : layout) {
      of_layout[holding.services.front().index] += profile_sms(scenario.model_of({0}), holding.slice.profile);
    }
    sums.insert(of_layout);
  });
  return sums;
}

/// The least unevenness of two GPUs, from all pairs of sums.
std::optional<std::pair<std::int64_t, std::int64_t>> least_unevenness_of_two(const Scenario& scenario) {
  std::vector<std::set<std::vector<std::int64_t>>> reachable;
  for (const FleetEntry& entry : scenario.fleet) {
    Scenario alone = scenario;
    alone.fleet = {entry};
    reachable.push_back(reachable_sums(alone));
  }
  std::optional<std::pair<std::int64_t, std::int64_t>> least;
  for (const auto& a : reachable.front()) {
    for (const auto& b : reachable.back()) {
      std::vector<std::int64_t> sums;
      for (std::size_t i = 0; i < a.size(); ++i) sums.push_back(a[i] + b[i]);
      const auto [smallest, largest] = std::ranges::minmax(sums);
      const std::pair value{largest - smallest, -std::accumulate(sums.begin(), sums.end(), std::int64_t{0})};
      if (smallest > 0 && (!least || value < *least)) least = value;
    }
  }
  return least;
}

/// How often a search found the optimum, and its largest distance from it. The tests' limits are the measured values
/// (docs/reference/policies.md), so that a search that becomes worse is noticed.
struct Tally {
  int optimal_count = 0;
  int count = 0;
  double gap_max = 0;
};

constexpr int kSearches = berth::testing::by_build(100, 20);

TEST(Searches, StaticEvenOnTwoGpusAgainstAllLayouts) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < kSearches; ++seed) {
    Rng rng(seed);
    const auto service_count = static_cast<std::uint32_t>(2 + rng.below(2));
    const Scenario scenario = random_scenario(rng, {"A100-80GB", "A30-24GB"}, 2, service_count);
    const auto least = least_unevenness_of_two(scenario);
    if (!least) continue;
    const auto value = unevenness(scenario, std::get<Layout>(static_even_layout(scenario)));
    ++tally.count;
    tally.optimal_count += value == *least ? 1 : 0;
    tally.gap_max = std::max(tally.gap_max, static_cast<double>(value.first - least->first));
  }
  EXPECT_EQ(tally.count, berth::testing::by_build(98, 20));
  EXPECT_EQ(tally.optimal_count, tally.count);
  EXPECT_EQ(tally.gap_max, 0) << "SMs";
}

TEST(Searches, StaticBestOnTwoGpusAgainstAllLayouts) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < kSearches; ++seed) {
    Rng rng(seed);
    const auto service_count = static_cast<std::uint32_t>(2 + rng.below(2));
    const Scenario scenario = random_scenario(rng, {"A30-24GB"}, 2, service_count);
    const StaticBestSearch search = made_up_search(scenario, seed);
    const auto best = best_score(scenario, search);
    if (!best) continue;
    const double score = search.score_layout(std::get<Layout>(static_best_layout(scenario, search).layout));
    ++tally.count;
    tally.optimal_count += score == *best ? 1 : 0;
    tally.gap_max = std::max(tally.gap_max, (*best - score) / *best);
  }
  EXPECT_EQ(tally.count, berth::testing::by_build(95, 20));
  EXPECT_GE(tally.optimal_count, tally.count - 3);
  EXPECT_LT(tally.gap_max, 0.002) << "of the best score";
}

}  // namespace
}  // namespace berth::partition
