#include "serving/repository/version_choice.h"

#include <gtest/gtest.h>

namespace berth::serving {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(ChooseVersions, ByPolicy) {
  const VersionsOnDisk disk{.complete = {1, 4, 9}, .broken = {2, 12}};
  const auto latest = [&](std::int64_t count) { return choose_versions({.latest_count = count}, disk); };
  EXPECT_EQ(latest(1), Numbers{9});
  EXPECT_EQ(latest(2), (Numbers{4, 9}));
  EXPECT_EQ(latest(7), (Numbers{1, 4, 9}));
  EXPECT_EQ(choose_versions({.kind = VersionPolicy::Kind::kAll}, disk), (Numbers{1, 2, 4, 9, 12}));
  EXPECT_EQ(choose_versions({.kind = VersionPolicy::Kind::kSpecific, .versions = {4, 5}}, disk), (Numbers{4, 5}));
  EXPECT_EQ(choose_versions({}, {.broken = {3}}), Numbers{});
}

}  // namespace
}  // namespace berth::serving
