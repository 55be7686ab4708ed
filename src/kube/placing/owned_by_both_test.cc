#include "kube/placing/owned_by_both.h"

#include <gtest/gtest.h>

namespace berth::kube {
namespace {

using Pools = std::vector<std::string>;

TEST(OwnedByBoth, BothOwnWhatEachOfThemNames) {
  const std::vector<OwnedPools> all = {{"d", std::nullopt}};
  const std::vector<OwnedPools> ab = {{"d", Pools{"a", "b"}}, {"e", Pools{"x"}}};
  const std::vector<OwnedPools> bc = {{"d", Pools{"b", "c"}}};
  EXPECT_EQ(owned_by_both(all, all), all);
  EXPECT_EQ(owned_by_both(all, bc), bc);
  EXPECT_EQ(owned_by_both(bc, all), bc);
  EXPECT_EQ(owned_by_both(ab, bc), (std::vector<OwnedPools>{{"d", Pools{"b"}}}));
  EXPECT_EQ(owned_by_both({{"d", Pools{"a"}}}, bc), std::vector<OwnedPools>());
  EXPECT_EQ(owned_by_both({{"e", std::nullopt}}, bc), std::vector<OwnedPools>());
}

}  // namespace
}  // namespace berth::kube
