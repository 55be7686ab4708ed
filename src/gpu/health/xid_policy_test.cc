#include "gpu/health/xid_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::health {
namespace {

constexpr const char* kHead = "berth: 1\nas_of: 2026-01\nsource: test\n";

std::string error_of(const std::string& rest) {
  const auto policy = read_xid_policy(kHead + rest, "x.yaml");
  return policy ? "" : policy.error().message;
}

TEST(XidPolicy, BuiltInGroupsFollowTheCatalogue) {
  const XidPolicy& policy = built_in_xid_policy();
  EXPECT_EQ(policy.rule_for(31).action, XidAction::kRestartApp);
  EXPECT_EQ(policy.rule_for(63).action, XidAction::kIgnore);
  for (const std::uint64_t drains : {46, 48, 62, 79, 95, 119, 120, 151}) {
    EXPECT_EQ(policy.rule_for(drains).action, XidAction::kDrain) << drains;
  }
  for (const std::uint64_t manual : {45, 54, 74, 144, 150, 154}) {
    EXPECT_EQ(policy.rule_for(manual).action, XidAction::kManual) << manual;
  }
  std::int64_t restarts = 0;
  for (const auto& [code, action] : policy.actions) restarts += action == XidAction::kRestartApp ? 1 : 0;
  EXPECT_EQ(restarts, 48);
  EXPECT_EQ(policy.rule_for(79).meaning, "the GPU has fallen off the bus");
}

TEST(XidPolicy, UnknownCodesAreWatched) {
  EXPECT_EQ(built_in_xid_policy().rule_for(4711), XidRule{});
  EXPECT_EQ(built_in_xid_policy().rule_for(165).action, XidAction::kWatch);
}

TEST(XidPolicy, FilesHaveNumbersAndRanges) {
  const auto policy =
      read_xid_policy(std::string(kHead) + "actions: {drain: [1, 5-7], ignore: [2]}\nwords: {5: oops}", "x.yaml");
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->actions, (std::map<std::uint64_t, XidAction>{{1, XidAction::kDrain},
                                                                 {2, XidAction::kIgnore},
                                                                 {5, XidAction::kDrain},
                                                                 {6, XidAction::kDrain},
                                                                 {7, XidAction::kDrain}}));
  EXPECT_EQ(policy->rule_for(5).meaning, "oops");
}

TEST(XidPolicy, BadFilesSayWhere) {
  EXPECT_EQ(error_of("actions: {drain: [7-5]}"),
            "x.yaml:4:19: actions.drain[0]: wanted an error code, or a range such as 96-105, found \"7-5\"");
  EXPECT_EQ(error_of("actions: {drain: [5], ignore: [4-6]}"),
            "x.yaml:4:19: actions.drain[0]: wanted each error code once, found 5 again");
  EXPECT_THAT(error_of("actions: {reset: [5]}"), testing::HasSubstr("actions: unknown key \"reset\""));
  EXPECT_THAT(error_of("actions: {}\nwords: {x: y}"),
              testing::HasSubstr("wanted an error code as the key, found \"x\""));
  EXPECT_THAT(error_of("actions: {drain: [0]}"), testing::HasSubstr("found \"0\""));
  EXPECT_THAT(error_of("actions: {drain: [1-99999999999]}"), testing::HasSubstr("found \"1-99999999999\""));
}

TEST(XidPolicy, DriversPrecede) {
  EXPECT_EQ(action_of_recovery("none"), XidAction::kIgnore);
  for (const char* action :
       {"gpu_reset", "node_reboot", "drain_p2p", "drain_and_reset", "bus_reset", "system_reboot"}) {
    EXPECT_EQ(action_of_recovery(action), XidAction::kDrain) << action;
  }
  EXPECT_EQ(action_of_recovery("recover_imex_domain"), XidAction::kManual);
  EXPECT_EQ(action_of_recovery("action_12"), XidAction::kManual);
}

}  // namespace
}  // namespace berth::health
