#include "domain/mig/multiset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "domain/mig/catalogue.h"

namespace berth::mig {
namespace {

/// "2x1g.10gb 1x3g.40gb" placed on the GPU, or "none".
std::string placed(std::string_view gpu, const std::map<std::string, int>& counts, bool is_before_r510 = false) {
  const GpuModel model = *find_gpu_model(gpu);
  Multiset wanted;
  for (const auto& [name, count] : counts) wanted.push_back({*find_profile(model, name), count});
  std::ranges::sort(wanted);
  const auto state = place_multiset(model, wanted, is_before_r510);
  if (!state) return "none";
  EXPECT_EQ(multiset_of(*state), wanted);
  EXPECT_EQ(find_clash(model, *state, is_before_r510), std::nullopt);
  return to_string(model, *state);
}

TEST(PlaceMultiset, LeavesTheMostRoom) {
  EXPECT_EQ(placed("A100-80GB", {}), "");
  EXPECT_EQ(placed("A100-80GB", {{"1g.10gb", 1}}), "1g.10gb@6");
  EXPECT_EQ(placed("A100-80GB", {{"3g.40gb", 1}}), "3g.40gb@4");
  EXPECT_EQ(placed("A30", {{"2g.12gb", 1}, {"1g.6gb", 2}}), "1g.6gb@0,1g.6gb@1,2g.12gb@2");
}

// Where creating in the order given at the first free start fails: 3g takes 0, and there is no place for 4g.
TEST(PlaceMultiset, FindsWhatFirstFitMisses) {
  EXPECT_EQ(placed("H100-80GB", {{"3g.40gb", 1}, {"4g.40gb", 1}}), "4g.40gb@0,3g.40gb@4");
  EXPECT_EQ(placed("A100-80GB", {{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}}),
            "1g.10gb@0,1g.10gb@1,2g.20gb@2,3g.40gb@4");
}

// Seven slices and every profile within its own limit, yet the four doubles take all units.
TEST(PlaceMultiset, RefusesWhatCountsAloneWouldAllow) {
  EXPECT_EQ(placed("A100-80GB", {{"1g.20gb", 4}, {"1g.10gb", 3}}), "none");
  EXPECT_EQ(placed("A100-80GB", {{"1g.10gb", 8}}), "none");
  EXPECT_EQ(placed("A100-80GB", {{"1g.10gb", 2147483647}}), "none");
  EXPECT_EQ(placed("A100-40GB", {{"4g.20gb", 1}, {"3g.20gb", 1}}, true), "none");
  EXPECT_EQ(placed("A30", {{"1g.6gb+me", 1}, {"2g.12gb+me", 1}}), "none");
}

// Every multiset of legal states is placed, and with no more blocked length than any state of it.
TEST(PlaceMultiset, IsBestOverAllStates) {
  for (const char* name : {"A100-40GB", "A30", "RTX"}) {
    const GpuModel model = *find_gpu_model(name);
    std::map<Multiset, int> best;
    for_each_state(model, all_rules(model), [&](const State& state) {
      const int blocked = blocked_length(model, state, plain_rules(model)).blocked;
      const auto [at, is_new] = best.try_emplace(multiset_of(state), blocked);
      if (!is_new) at->second = std::min(at->second, blocked);
    });
    for (const auto& [multiset, blocked] : best) {
      const auto state = place_multiset(model, multiset);
      ASSERT_TRUE(state.has_value());
      EXPECT_EQ(blocked_length(model, *state, plain_rules(model)).blocked, blocked) << to_string(model, *state);
    }
  }
}

}  // namespace
}  // namespace berth::mig
