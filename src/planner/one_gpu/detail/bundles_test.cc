#include "planner/one_gpu/detail/bundles.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

/// [(kind, variant)] to the number of pieces, none of them 0.
using Held = std::map<std::pair<KindIndex, int>, int>;

Held held_by(const Bundles& bundles, BundleIndex bundle) {
  Held held;
  for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
    const int count = bundles.count_of(bundle, item);
    if (count > 0) held[{bundles.items[item].kind, bundles.items[item].variant}] = count;
  }
  return held;
}

/// The capacity of every placement of a service's serving pieces.
class ServicePlacings {
 public:
  ServicePlacings(const ModelTerms& model, ServiceIndex service) : model_(model), service_(service) { add(0, 0); }
  [[nodiscard]] const std::set<Held>& all() const { return all_; }

 private:
  void add(std::size_t site, std::uint64_t taken) {
    if (site == model_.sites.size()) {
      all_.insert(held_);
      return;
    }
    add(site + 1, taken);
    if ((taken >> site & 1) != 0) return;
    const KindIndex kind = model_.sites[site].kind;
    const std::vector<double>& rates = model_.rates[kind][service_].requests_per_second;
    for (int variant = 0; ix(variant) < rates.size(); ++variant) {
      if (rates[variant] <= 0) continue;
      ++held_[{kind, variant}];
      add(site + 1, taken | model_.sites[site].clashes);
      if (--held_[{kind, variant}] == 0) held_.erase({kind, variant});
    }
  }

  const ModelTerms& model_;
  ServiceIndex service_;
  Held held_;
  std::set<Held> all_;
};

struct BundlesCase {
  BundlesCase(const Problem& from, ServiceIndex number)
      : problem(from),
        model(problem.models[ix(problem.gpus.front().model)]),
        rooms(model),
        served(problem, number),
        bundles(make_bundles(model, rooms, problem.services[number], number, served)),
        service(number) {}
  Problem problem;
  const ModelTerms& model;
  Rooms rooms;
  Served served;
  Bundles bundles;
  ServiceIndex service;
};

void expect_items(const BundlesCase& of) {
  const std::size_t variants = of.problem.services[of.service].variants.size();
  std::size_t items = 0;
  for (const KindIndex kind : indices_of<KindIndex>(of.model.rates)) {
    for (std::size_t variant = 0; variant < variants; ++variant) {
      const double rate = of.model.rates[kind][of.service].requests_per_second[variant];
      const ItemIndex item = of.bundles.item(KindIndex(kind), static_cast<int>(variant));
      ASSERT_EQ(item == kNoItem, rate <= 0);
      if (item == kNoItem) continue;
      ++items;
      EXPECT_EQ(ix(of.bundles.items[item].kind), kind);
      EXPECT_EQ(ix(of.bundles.items[item].variant), variant);
      EXPECT_EQ(of.bundles.items[item].rate, rate);
    }
  }
  EXPECT_EQ(of.bundles.items.size(), items);
}

/// Room, rate and capacity, counted piece by piece.
void expect_figures(BundlesCase& of, BundleIndex bundle) {
  RoomIndex room(0);
  double rate = 0;
  std::vector<double> capacity(of.problem.services[of.service].variants.size());
  for (const auto& [item, count] : held_by(of.bundles, bundle)) {
    const auto& [kind, variant] = item;
    for (int i = 0; i < count; ++i) {
      room = of.rooms.add(room, kind);
      const double more = of.model.rates[kind][of.service].requests_per_second[variant];
      rate += more;
      capacity[variant] += more;
    }
  }
  EXPECT_EQ(of.bundles.room[bundle], room);
  EXPECT_NEAR(of.bundles.rate[bundle], rate, 1e-9 * (1 + rate));
  const SlotIndex end(of.problem.slots);
  const double value = of.served.value(of.served.level_of(capacity), true, SlotIndex(0), end);
  EXPECT_NEAR(of.served.value(of.bundles.level[bundle], true, SlotIndex(0), end), value, 1e-9 * (1 + std::abs(value)));
}

/// `numbers`: the bundle of each content.
void expect_steps(const Bundles& bundles, const std::map<Held, BundleIndex>& numbers) {
  for (const auto& [held, bundle] : numbers) {
    for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
      const std::pair what(bundles.items[item].kind, bundles.items[item].variant);
      Held more = held;
      ++more[what];
      const BundleIndex plus = bundles.plus(bundle, item);
      ASSERT_EQ(plus, numbers.contains(more) ? numbers.at(more) : kNoBundle);
      ASSERT_TRUE(plus == kNoBundle || plus > bundle) << "a part of a bundle has a smaller number";
      Held less = held;
      if (--less[what] == 0) less.erase(what);
      ASSERT_EQ(bundles.minus(bundle, item), held.contains(what) ? numbers.at(less) : kNoBundle);
    }
    for (const auto& [other_held, other] : numbers) {
      Held common;
      for (const auto& [what, count] : held) {
        if (other_held.contains(what)) common[what] = std::min(count, other_held.at(what));
      }
      ASSERT_EQ(bundles.common_part(bundle, other), numbers.at(common));
    }
  }
}

void expect_bundles_are_the_placings(const Problem& problem) {
  for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
    BundlesCase of(problem, service);
    expect_items(of);
    const ServicePlacings placings(of.model, service);
    std::map<Held, BundleIndex> numbers;
    for (const BundleIndex bundle : Indices<BundleIndex>(of.bundles.count())) {
      const Held held = held_by(of.bundles, bundle);
      ASSERT_TRUE(placings.all().contains(held));
      ASSERT_TRUE(numbers.emplace(held, bundle).second) << "a bundle is there twice";
      expect_figures(of, bundle);
    }
    ASSERT_EQ(numbers.size(), placings.all().size());
    EXPECT_EQ(numbers.at({}), 0);
    expect_steps(of.bundles, numbers);
  }
}

TEST(Bundles, AreWhatPlacingsGiveAService) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(300, 30))) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    expect_bundles_are_the_placings(testing::tiny_problem(Rng(seed)));
    if (HasFatalFailure()) return;
  }
}

TEST(Bundles, AreWhatPlacingsGiveOnAWholeGpu) {
  // One variant ...
  Problem problem = testing::quarters_problem(1, 2);
  expect_bundles_are_the_placings(problem);
  // ... and a second variant that the quarter cannot hold.
  problem.services.front().variants.push_back({.accuracy_before = 0.5, .accuracy_after = 0.5});
  for (std::size_t kind = 0; kind < 3; ++kind) {
    problem.models.front().rates[kind].front().requests_per_second.push_back(kind == 0 ? 0 : 50.0);
  }
  expect_bundles_are_the_placings(problem);
}

}  // namespace
}  // namespace berth::planner
