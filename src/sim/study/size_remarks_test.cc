#include "sim/study/size_remarks.h"

#include <gtest/gtest.h>

namespace berth::study {
namespace {

using Lines = std::vector<std::string>;

PolicySize answered(std::string name, std::int64_t gpus) {
  PolicySize size;
  size.name = std::move(name);
  size.gpus = gpus;
  size.is_smallest_proven = true;
  size.at_answer.emplace();
  for (std::int64_t count = 1; count <= gpus; ++count)
    size.tried.push_back({.gpus = count, .holds = count == gpus, .seeds = {}});
  return size;
}

TEST(SizeRemarks, NothingWhereNothingIsToBeSaid) {
  PolicySize size = answered("paris", 3);
  EXPECT_EQ(size_remarks_on({}, size), Lines());
  size.tried.push_back({.gpus = 4, .holds = true, .seeds = {}});
  EXPECT_EQ(size_remarks_on({}, size), Lines());
}

TEST(SizeRemarks, ALargerCountThatFails) {
  PolicySize size = answered("paris", 3);
  size.tried.push_back({.gpus = 4, .holds = false, .seeds = {}});
  EXPECT_EQ(size_remarks_on({}, size), Lines{"more GPUs are not always better: 4 GPUs do not reach the target"});
}

TEST(SizeRemarks, CountsThatWereNotTried) {
  PolicySize size = answered("paris", 9);
  size.tried.erase(size.tried.begin() + 3, size.tried.begin() + 4);
  size.is_smallest_proven = false;
  EXPECT_EQ(size_remarks_on({}, size), Lines{"smallest of those tried; 1 count below not tried"});
}

TEST(SizeRemarks, SeedsThatNeedFewer) {
  PolicySize size = answered("paris", 5);
  size.is_stable = false;
  size.gpus_by_seed = {5, 4, std::nullopt};
  EXPECT_EQ(size_remarks_on({}, size),
            Lines{"not stable: with each of the seeds 1, 2, 3 alone, 5, 4, ? GPUs would suffice"});
}

TEST(SizeRemarks, WhatStaticBestAimsAt) {
  EXPECT_EQ(size_remarks_on({}, answered("static-best", 2)),
            Lines{"maximises goodput, not the worst share: it may need more GPUs than static-even"});
}

TEST(SizeRemarks, WhyNoneHolds) {
  PolicySize size;
  size.infeasible = "no count up to 4 GPUs reaches the target for every service";
  EXPECT_EQ(size_remarks_on({}, size), Lines{"no count up to 4 GPUs reaches the target for every service"});
}

}  // namespace
}  // namespace berth::study
