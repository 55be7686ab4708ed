#include "surface/cli/tier/tier_target.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace berth::cli {
namespace {

TEST(TierTarget, ReadsBothForms) {
  const auto service = parse_tier_target(" latency_ms=50.5  requests_per_second=1e3 ");
  ASSERT_TRUE(service.has_value()) << service.error().message;
  EXPECT_EQ(service->kind, tier::TierKind::kServices);
  EXPECT_EQ(service->target, (tier::TierTarget{.per_second = Decimal(1000), .latency_ms = Decimal(101, 2)}));
  const auto job = parse_tier_target("samples_per_second=0.25");
  ASSERT_TRUE(job.has_value()) << job.error().message;
  EXPECT_EQ(job->kind, tier::TierKind::kJobs);
  EXPECT_EQ(job->target, (tier::TierTarget{.per_second = Decimal(1, 4)}));
}

TEST(TierTarget, RefusesWhatIsNoTarget) {
  const std::string forms = "--target: wanted requests_per_second=R latency_ms=L, or samples_per_second=T, found ";
  const std::pair<const char*, std::string> cases[] = {
      {"", forms + "\"\""},
      {"fast", forms + "\"fast\""},
      {"latency_ms=5", forms + "\"latency_ms=5\""},
      {"requests_per_second=5", forms + "\"requests_per_second=5\""},
      {"samples_per_second=5 latency_ms=5", forms + "\"samples_per_second=5 latency_ms=5\""},
      {"latency=5", forms + "the key \"latency\"; did you mean latency_ms?"},
      {"latency_ms=0 requests_per_second=5",
       "--target: latency_ms: wanted a number above 0, at most 1000000000000, found \"0\""},
      {"samples_per_second=nan",
       "--target: samples_per_second: wanted a number above 0, at most 1000000000000, found \"nan\""},
      {"samples_per_second=1 samples_per_second=1", "--target: wanted samples_per_second once, found it twice"},
  };
  for (const auto& [text, message] : cases) {
    const auto target = parse_tier_target(text);
    ASSERT_FALSE(target.has_value()) << text;
    EXPECT_EQ(target.error().message, message);
  }
}

}  // namespace
}  // namespace berth::cli
