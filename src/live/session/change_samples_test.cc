#include "live/session/change_samples.h"

#include <gtest/gtest.h>

#include "base/core/archive.h"
#include "live/session/entry.h"

namespace berth::live {
namespace {

const ChangeKind kCreates{.model = "A100-80GB", .profile = "1g.10gb", .action = ActionKind::kCreation};
const ChangeKind kDestroys{.model = "A100-80GB", .profile = "1g.10gb", .action = ActionKind::kDestruction};

/// Each number once.
class Recording {
 public:
  std::optional<ChangeKind> add(const ChangeKind& change, std::int64_t us, const std::string& outcome = kDoneOutcome) {
    samples.begin(++intent_, change);
    return samples.end(
        {.intent = intent_, .outcome = outcome, .gpu_instance_us = us - us / 4, .compute_instance_us = us / 4});
  }
  ChangeSamples samples;

 private:
  std::uint64_t intent_ = 0;
};

TEST(ChangeSamples, HaveTheMedianOfTheLastNine) {
  Recording recording;
  EXPECT_TRUE(recording.samples.times().empty());
  for (const std::int64_t us : {900, 100, 500}) EXPECT_EQ(recording.add(kCreates, us), kCreates);
  EXPECT_EQ(recording.samples.time_of(kCreates), (MeasuredTime{.median = Micros(500), .count = 3}));
  for (int i = 0; i < 8; ++i) recording.add(kCreates, 700);
  EXPECT_EQ(recording.samples.time_of(kCreates), (MeasuredTime{.median = Micros(700), .count = 11}));
  for (int i = 0; i < 5; ++i) recording.add(kCreates, 20);
  EXPECT_EQ(recording.samples.time_of(kCreates), (MeasuredTime{.median = Micros(20), .count = 16}));
}

TEST(ChangeSamples, AreKeptByKind) {
  Recording recording;
  recording.add(kCreates, 300);
  recording.add(kDestroys, 40);
  const MeasuredTimes wanted = {{kCreates, {.median = Micros(300), .count = 1}},
                                {kDestroys, {.median = Micros(40), .count = 1}}};
  EXPECT_EQ(recording.samples.times(), wanted);
}

TEST(ChangeSamples, CountOnlyWhatWasDoneByCalls) {
  Recording recording;
  EXPECT_EQ(recording.add(kCreates, 300, "failed"), std::nullopt);
  EXPECT_EQ(recording.add(kCreates, 0), std::nullopt) << "it stood already";
  EXPECT_EQ(recording.samples.end({.intent = 77, .outcome = kDoneOutcome, .gpu_instance_us = 5}), std::nullopt);
  recording.samples.begin(78, kCreates);
  recording.samples.forget_open();
  EXPECT_EQ(recording.samples.end({.intent = 78, .outcome = kDoneOutcome, .gpu_instance_us = 5}), std::nullopt);
  EXPECT_TRUE(recording.samples.times().empty());
}

TEST(ChangeSamples, GoOnFromTheirBytes) {
  Recording recording;
  for (const std::int64_t us : {900, 100, 500}) recording.add(kCreates, us);
  recording.samples.begin(9, kDestroys);
  auto again = from_bytes<ChangeSamples>(bytes_of(recording.samples));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->times(), recording.samples.times());
  EXPECT_EQ(again->end({.intent = 9, .outcome = kDoneOutcome, .gpu_instance_us = 5}), kDestroys);
}

TEST(ChangeSamples, FewTimesAreWorthLearning) {
  const auto is_worth = [](std::int64_t known_ms, std::int64_t median_ms, std::int64_t count) {
    return is_worth_learning(Micros(known_ms * 1000), {.median = Micros(median_ms * 1000), .count = count});
  };
  EXPECT_TRUE(is_worth(500, 600, 3));
  EXPECT_TRUE(is_worth(500, 100, 3));
  EXPECT_FALSE(is_worth(500, 100, 2)) << "too few";
  EXPECT_FALSE(is_worth(100, 140, 9)) << "less than 50 ms";
  EXPECT_TRUE(is_worth(100, 150, 9));
  EXPECT_FALSE(is_worth(2000, 2100, 9)) << "less than 10 %";
  EXPECT_TRUE(is_worth(2000, 2200, 9));
  EXPECT_TRUE(is_worth(0, 50, 9));
}

TEST(ChangeSamples, AreLookedAtNowAndThen) {
  std::vector<std::int64_t> counts;
  for (std::int64_t count = 0; count <= 30; ++count) {
    if (is_looked_at(count)) counts.push_back(count);
  }
  EXPECT_EQ(counts, (std::vector<std::int64_t>{3, 5, 9, 18, 27}));
}

}  // namespace
}  // namespace berth::live
