#include "domain/trace/detail/uniform_offsets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace berth::detail {
namespace {

TEST(UniformOffsets, AreTheDrawsOfTheGeneratorSorted) {
  UniformOffsets offsets;
  std::vector<std::uint32_t> found;
  for (const std::int64_t count : {0, 1, 2, 16, 17, 100, 4'095, 4'096, 1'200'000, 3}) {
    offsets.draw(Rng(3), count, found);
    Rng rng(3);
    std::vector<std::uint32_t> wanted(static_cast<std::size_t>(count));
    for (std::uint32_t& offset : wanted) offset = static_cast<std::uint32_t>(rng.below(1'000'000));
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(found, wanted) << count;
  }
}

}  // namespace
}  // namespace berth::detail
