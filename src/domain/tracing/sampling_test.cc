#include "domain/tracing/sampling.h"

#include <gtest/gtest.h>

#include "base/core/rng.h"

namespace berth {
namespace {

TraceId drawn(Rng& rng) {
  TraceId id;
  for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(rng());
  return id;
}

TEST(Sampling, FollowsTheParentWhereItShould) {
  Rng rng(1);
  const TraceId trace = drawn(rng);
  const TraceContext sampled{.trace = trace, .span = {}, .is_sampled = true};
  const TraceContext unsampled{.trace = trace, .span = {}, .is_sampled = false};
  const Sampler usual;
  EXPECT_TRUE(is_recorded(usual, trace, std::nullopt));
  EXPECT_TRUE(is_recorded(usual, trace, sampled));
  EXPECT_FALSE(is_recorded(usual, trace, unsampled));
  const Sampler off{.share = 0};
  EXPECT_FALSE(is_recorded(off, trace, std::nullopt));
  EXPECT_TRUE(is_recorded(off, trace, sampled));
  EXPECT_TRUE(is_recorded({.share = 1, .follows_parent = false}, trace, unsampled));
  EXPECT_FALSE(is_recorded({.share = 0, .follows_parent = false}, trace, sampled));
}

TEST(Sampling, AShareOfTheTracesIsRecorded) {
  Rng rng(2);
  int count = 0;
  constexpr int kTraces = 20'000;
  for (int i = 0; i < kTraces; ++i) {
    const TraceId trace = drawn(rng);
    const bool is_in = is_recorded({.share = 0.25}, trace, std::nullopt);
    count += is_in ? 1 : 0;
    EXPECT_TRUE(!is_in || is_recorded({.share = 0.5}, trace, std::nullopt));  // the larger share has the smaller one
  }
  EXPECT_NEAR(count, kTraces / 4, kTraces / 50);
}

TEST(Sampling, TheLimitIsOfOneSecond) {
  RateLimit limit(2);
  EXPECT_TRUE(limit.take(5'000'000));
  EXPECT_TRUE(limit.take(5'999'999));
  EXPECT_FALSE(limit.take(5'999'999));
  EXPECT_FALSE(limit.take(4'000'000));  // a clock that was set back does not lift it
  EXPECT_TRUE(limit.take(6'000'000));
  EXPECT_FALSE(RateLimit(0).take(0));
}

}  // namespace
}  // namespace berth
