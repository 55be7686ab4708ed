#include "domain/mig/geometry.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "domain/mig/catalogue.h"

namespace berth::mig {
namespace {

GpuModel gpu(std::string_view name) { return *find_gpu_model(name); }

Placement at(const GpuModel& model, std::string_view profile, int start) {
  return {start, *find_profile(model, profile)};
}

std::string fits_text(const GpuModel& model, std::string_view state, const Rules& rules) {
  std::string text;
  for (const Placement& placement : placements_that_fit(model, *parse_state(model, state), rules)) {
    text += (text.empty() ? "" : " ") + to_string(model, {placement});
  }
  return text;
}

TEST(FindClash, NamesTheTwoInstancesThatOverlap) {
  const GpuModel a100 = gpu("A100-80GB");
  EXPECT_EQ(find_clash(a100, {at(a100, "1g.10gb", 6), at(a100, "3g.40gb", 4)}),
            "3g.40gb@4 (units 4 to 7) and 1g.10gb@6 (unit 6) overlap");
  EXPECT_EQ(find_clash(a100, {at(a100, "1g.10gb", 0), at(a100, "1g.10gb", 0)}),
            "1g.10gb@0 (unit 0) and 1g.10gb@0 (unit 0) overlap");
  EXPECT_EQ(find_clash(a100, {at(a100, "full", 0), at(a100, "1g.10gb", 6)}),
            "full@0 (the whole GPU) and 1g.10gb@6 (unit 6) overlap");
}

TEST(FindClash, RefusesWhatIsIllegalAlone) {
  const GpuModel a100 = gpu("A100-80GB");
  EXPECT_EQ(find_clash(a100, {at(a100, "2g.20gb", 6)}), "2g.20gb can start at 0, 2, 4 on A100-80GB, found 6");
  EXPECT_EQ(find_clash(a100, {{0, ProfileId{9}}}), "A100-80GB has no profile number 9");
  EXPECT_EQ(find_clash(a100, {{1, ProfileId::full()}}), "full can only start at 0, found 1");
  EXPECT_EQ(find_clash(gpu("T4"), {{0, ProfileId{0}}}), "T4-16GB has no profile number 0");
}

TEST(FindClash, LetsAWholeGpuStandAlone) {
  EXPECT_EQ(find_clash(gpu("A100-80GB"), {{0, ProfileId::full()}}), std::nullopt);
  EXPECT_EQ(find_clash(gpu("T4"), {{0, ProfileId::full()}}), std::nullopt);
  EXPECT_EQ(find_clash(gpu("T4"), {}), std::nullopt);
}

TEST(FindClash, CountsMediaEnginesOnceAGpu) {
  const GpuModel rtx = gpu("RTX");
  EXPECT_EQ(
      find_clash(rtx, {at(rtx, "1g.24gb+me", 0), at(rtx, "2g.48gb+me.all", 6)}),
      "1g.24gb+me@0 and 2g.48gb+me.all@6 clash: a GPU has the media engines for one instance with +me or +me.all");
  EXPECT_EQ(find_clash(rtx, {at(rtx, "1g.24gb+me", 0), at(rtx, "1g.24gb-me", 3), at(rtx, "1g.24gb", 6)}), std::nullopt);
  const GpuModel a30 = gpu("A30");
  EXPECT_NE(find_clash(a30, {at(a30, "1g.6gb+me", 0), at(a30, "2g.12gb+me", 2)}), std::nullopt);
}

TEST(FindClash, NamesAProfileThatStandsTooOften) {
  GpuModel a100 = gpu("A100-80GB");
  a100.profiles[0].instances_max = 2;
  const State three = {at(a100, "1g.10gb", 0), at(a100, "1g.10gb", 3), at(a100, "1g.10gb", 5)};
  EXPECT_EQ(find_clash(a100, three), "1g.10gb@0 and 1g.10gb@5 clash: at most 2 1g.10gb may exist on one A100-80GB");
}

TEST(FindClash, KnowsDriversBeforeR510) {
  const GpuModel a100 = gpu("A100-40GB");
  const State both = {at(a100, "4g.20gb", 0), at(a100, "3g.20gb", 4)};
  EXPECT_EQ(find_clash(a100, both), std::nullopt);
  EXPECT_EQ(find_clash(a100, both, true), "4g.20gb@0 and 3g.20gb@4 clash: drivers before R510 refuse 4g next to 3g");
  EXPECT_EQ(find_clash(a100, {at(a100, "3g.20gb", 0), at(a100, "3g.20gb", 4)}, true), std::nullopt);
}

TEST(PlacementsThatFit, GoByProfileThenStart) {
  const GpuModel a100 = gpu("A100-80GB");
  EXPECT_EQ(fits_text(a100, "3g.40gb@4,1g.10gb@0", plain_rules(a100)), "1g.10gb@1 1g.10gb@2 1g.10gb@3 2g.20gb@2");
  EXPECT_EQ(fits_text(a100, "3g.40gb@4,1g.10gb+me@0", all_rules(a100)),
            "1g.10gb@1 1g.10gb@2 1g.10gb@3 1g.20gb@2 2g.20gb@2");
  EXPECT_EQ(fits_text(a100, "full@0", all_rules(a100)), "");
}

TEST(PlacementsThatFit, KnowsTheDriver) {
  const GpuModel a100 = gpu("A100-40GB");
  Rules rules = {.profiles = {*find_profile(a100, "3g.20gb"), *find_profile(a100, "2g.10gb")}};
  std::ranges::sort(rules.profiles);
  EXPECT_EQ(fits_text(a100, "4g.20gb@0", rules), "2g.10gb@4 3g.20gb@4");
  rules.is_before_r510 = true;
  EXPECT_EQ(fits_text(a100, "4g.20gb@0", rules), "2g.10gb@4");
}

// The driver would put the first instance at 0; another start leaves more room.
TEST(Fragmentation, PrefersTheStartsThatLeaveRoom) {
  const GpuModel a100 = gpu("A100-80GB");
  const Rules plain = plain_rules(a100);
  const auto blocked = [&](std::string_view state) { return blocked_length(a100, *parse_state(a100, state), plain); };
  EXPECT_EQ(blocked(""), (BlockedLength{0, 33}));
  EXPECT_EQ(blocked("1g.10gb@6"), (BlockedLength{5, 25}));
  EXPECT_EQ(blocked("1g.10gb@0"), (BlockedLength{11, 25}));
  EXPECT_EQ(blocked("3g.40gb@4"), (BlockedLength{9, 25}));
  EXPECT_EQ(blocked("3g.40gb@0"), (BlockedLength{16, 25}));
  EXPECT_EQ(blocked("7g.80gb@0"), (BlockedLength{0, 0}));
  EXPECT_DOUBLE_EQ(fragmentation(a100, *parse_state(a100, "1g.10gb@6"), plain), 0.2);
  EXPECT_DOUBLE_EQ(fragmentation(a100, *parse_state(a100, "7g.80gb@0"), plain), 0.0);
  EXPECT_DOUBLE_EQ(fragmentation(gpu("T4"), {}, plain_rules(gpu("T4"))), 0.0);
}

TEST(RoomFor, CountsUnitsAndLooksForAPlace) {
  const GpuModel a100 = gpu("A100-80GB");
  const auto room = [&](std::string_view state, std::string_view profile) {
    return room_for(a100, *parse_state(a100, state), *find_profile(a100, profile));
  };
  EXPECT_EQ(room("1g.10gb@0,1g.10gb@6", "3g.40gb").free_units, 6);
  EXPECT_FALSE(room("1g.10gb@0,1g.10gb@6", "3g.40gb").fits);
  EXPECT_TRUE(room("1g.10gb@6", "4g.40gb").fits);
  EXPECT_TRUE(room("", "full").fits);
  EXPECT_FALSE(room("1g.10gb@6", "full").fits);
  EXPECT_EQ(room("full@0", "1g.10gb").free_units, 0);
  EXPECT_EQ(room_for(gpu("T4"), {}, ProfileId::full()).free_units, 0);
}

TEST(TransitionBetween, KeepsWhatBothHave) {
  const GpuModel a100 = gpu("A100-80GB");
  const State from = *parse_state(a100, "1g.10gb@0,1g.10gb@1,2g.20gb@2,3g.40gb@4");
  const State to = *parse_state(a100, "2g.20gb@0,2g.20gb@2,3g.40gb@4");
  const Difference difference = difference_between(from, to);
  EXPECT_EQ(to_string(a100, difference.kept), "2g.20gb@2,3g.40gb@4");
  EXPECT_EQ(to_string(a100, difference.destroyed), "1g.10gb@0,1g.10gb@1");
  EXPECT_EQ(to_string(a100, difference.created), "2g.20gb@0");
}

}  // namespace
}  // namespace berth::mig
