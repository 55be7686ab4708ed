#include "domain/mig/other_names.h"

#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"

namespace berth::mig {
namespace {

TEST(FindProfileByAnyName, TakesNamesOfOtherDrivers) {
  const GpuModel gb200 = *find_gpu_model("GB200");
  EXPECT_EQ(find_profile(gb200, "1g.24gb"), std::nullopt);
  EXPECT_EQ(find_profile_by_any_name(gb200, "1g.24gb"), find_profile(gb200, "1g.23gb"));
  EXPECT_EQ(find_profile_by_any_name(gb200, "1g.24gb+me"), find_profile(gb200, "1g.23gb+me"));
  EXPECT_EQ(find_profile_by_any_name(gb200, "7g.189gb"), find_profile(gb200, "7g.186gb"));
  EXPECT_EQ(find_profile_by_any_name(gb200, "2g.47gb"), find_profile(gb200, "2g.47gb"));
  EXPECT_EQ(find_profile_by_any_name(*find_gpu_model("B200"), "1g.24gb"), std::nullopt);
  EXPECT_EQ(find_profile_by_any_name(gb200, "full"), ProfileId::full());
}

TEST(GpuKnownByName, HasNoPlacements) {
  EXPECT_EQ(gpu_known_by_name(0x31C2), "GB300");
  EXPECT_EQ(gpu_known_by_name(0x2941), std::nullopt);
}

TEST(ParseState, TakesNamesOfOtherDrivers) {
  const GpuModel gb200 = *find_gpu_model("GB200");
  EXPECT_EQ(to_string(gb200, *parse_state(gb200, "1g.24gb@0,3g.95gb@4")), "1g.23gb@0,3g.93gb@4");
}

}  // namespace
}  // namespace berth::mig
