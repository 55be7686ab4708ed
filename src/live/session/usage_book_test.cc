#include "live/session/usage_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "live/session/usage_text.h"
#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

using sim::testing::slice_at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two A100 with two services, and snapshots that a test writes.
class UsageBookTest : public ::testing::Test {
 protected:
  UsageBookTest() {
    scenario_.services = {};
    for (const char* name : {"a", "b"}) {
      ServiceSpec& spec = scenario_.services.emplace_back();
      spec.tenant = "t";
      spec.name = name;
    }
    snapshot_.services.resize(2);
    book_.emplace(scenario_);
  }

  StandingSlice& stands(const Slice& slice, std::vector<ServiceId> services, std::uint64_t generation = 1) {
    StandingSlice standing{.holding = {.slice = slice, .services = std::move(services)},
                           .is_ready = true,
                           .generation = generation,
                           .assignment = generation};
    slices_.push_back(std::move(standing));
    return slices_.back();
  }

  /// The intervals that were over at that second, as texts.
  std::vector<std::string> reach(std::int64_t second) {
    snapshot_.slices = {};
    for (const StandingSlice& standing : slices_) snapshot_.slices.push_back(standing);
    snapshot_.now = Instant::at_second(second);
    snapshot_.gpu_versions.assign(2, ++snapshot_.layout_version);
    std::vector<std::string> over;
    book_->update(snapshot_, scenario_, [&](const UsageInterval& interval) {
      over.push_back(text_of(interval.what) + " until " + std::to_string(interval.to.second()));
    });
    return over;
  }

  static std::string text_of(const OpenUsage& usage) {
    const UsagePart& part = usage.part;
    return std::to_string(part.start) + "+" + std::to_string(part.units) + " " + std::string(usage_word(part.state)) +
           " from " + std::to_string(usage.from.second());
  }
  [[nodiscard]] std::vector<std::string> open(std::uint32_t gpu = 0) const {
    std::vector<std::string> texts;
    for (const OpenUsage& usage : book_->open()[gpu]) texts.push_back(text_of(usage));
    return texts;
  }

  Scenario scenario_ = sim::testing::scenario_of({}, {}, 2);
  Snapshot snapshot_;
  std::vector<StandingSlice> slices_;  ///< by slice
  std::optional<UsageBook> book_;
};

TEST_F(UsageBookTest, AllIsFreeAtFirst) {
  EXPECT_THAT(open(0), ElementsAre("0+8 free from 0"));
  EXPECT_THAT(open(1), ElementsAre("0+8 free from 0"));
}

TEST_F(UsageBookTest, ASliceIsChangingUntilItIsReady) {
  stands(slice_at(0, "2g.20gb", 2), {{0}}).is_ready = false;
  EXPECT_THAT(reach(10), ElementsAre("0+8 free from 0 until 10"));
  EXPECT_THAT(open(), ElementsAre("0+2 free from 10", "2+2 changing from 10", "4+4 free from 10"));
  slices_.front().is_ready = true;
  EXPECT_THAT(reach(12), ElementsAre("2+2 changing from 10 until 12"));
  slices_.front().is_leaving = true;
  EXPECT_THAT(reach(20), ElementsAre("2+2 held from 12 until 20"));
  slices_.clear();
  EXPECT_THAT(reach(21),
              ElementsAre("0+2 free from 10 until 21", "2+2 changing from 20 until 21", "4+4 free from 10 until 21"));
  EXPECT_THAT(open(), ElementsAre("0+8 free from 21"));
}

TEST_F(UsageBookTest, WhatHasNoLengthIsForgotten) {
  stands(slice_at(0, "full", 0), {{0}}).is_ready = false;
  EXPECT_THAT(reach(0), ElementsAre());
  slices_.front().is_ready = true;
  EXPECT_THAT(reach(0), ElementsAre());
  EXPECT_THAT(open(), ElementsAre("0+8 held from 0"));
}

TEST_F(UsageBookTest, UnitsBelongToTheSliceThatStandsWhereOneWaitsForRoom) {
  stands(slice_at(0, "1g.10gb", 0), {{0}}, 1).is_leaving = true;
  StandingSlice& waiting = stands(slice_at(0, "3g.40gb", 0), {{1}}, 3);
  waiting.is_ready = false;
  stands(slice_at(0, "1g.10gb", 2), {{0}}, 2).is_leaving = true;
  reach(5);
  EXPECT_THAT(open(), ElementsAre("0+1 changing from 5", "1+1 changing from 5", "2+1 changing from 5",
                                  "3+1 changing from 5", "4+4 free from 5"));
  EXPECT_EQ(book_->open()[0][1].part.holders, (std::vector<ServiceName>{{"t", "b"}}));
  EXPECT_EQ(book_->open()[0][2].part.holders, (std::vector<ServiceName>{{"t", "a"}}));
}

TEST_F(UsageBookTest, ForeignUnownedAndOrphanedSlicesAreTold) {
  StandingSlice& foreign = stands(slice_at(0, "1g.10gb", 0), {}, 0);
  foreign.is_foreign = true;
  stands(slice_at(0, "1g.10gb", 1), {});
  stands(slice_at(0, "1g.10gb", 2), {{1}});
  reach(1);
  EXPECT_THAT(open(), ElementsAre("0+1 foreign from 1", "1+1 free from 1", "2+1 held from 1", "3+5 free from 1"));
  snapshot_.services[1].is_absent = true;
  EXPECT_THAT(reach(2), ElementsAre("2+1 held from 1 until 2"));
  EXPECT_THAT(open()[2], "2+1 changing from 2");
}

TEST_F(UsageBookTest, AForeignSliceIsItsHoldersUsageWhereThatIsKnown) {
  const Slice slice = slice_at(0, "2g.20gb", 0);
  stands(slice, {}, 0).is_foreign = true;
  reach(1);
  EXPECT_THAT(open()[0], "0+2 foreign from 1");
  book_->note_foreign({0}, {{slice, "research"}});
  EXPECT_THAT(reach(2), ElementsAre("0+2 foreign from 1 until 2"));
  EXPECT_THAT(open()[0], "0+2 held from 2");
  const OpenUsage& usage = book_->open()[0][0];
  EXPECT_EQ(usage.part.holders, (std::vector<ServiceName>{{"research", ""}}));
  const std::string body = usage_body(scenario_, {.gpu = {0}, .what = usage, .to = Instant::at_second(3)});
  EXPECT_THAT(body, HasSubstr(R"("epoch":null,"sequence":)"));
  EXPECT_THAT(body,
              HasSubstr(R"("tenant":"research","service":null,"holders":[{"tenant":"research","service":null}])"));
  EXPECT_THAT(body, HasSubstr(R"("role":null,"state":"held")"));
  book_->note_foreign({0}, {});
  reach(4);
  EXPECT_THAT(open()[0], "0+2 foreign from 4");
}

TEST_F(UsageBookTest, ALostGpuIsLostAsAWhole) {
  stands(slice_at(0, "1g.10gb", 0), {{0}});
  reach(1);
  snapshot_.gpus.resize(1);
  snapshot_.gpus[0].health = GpuHealth::kLost;
  reach(2);
  EXPECT_THAT(open(0), ElementsAre("0+8 lost from 2"));
  EXPECT_THAT(open(1), ElementsAre("0+8 free from 0"));
}

TEST_F(UsageBookTest, WhatIsSkippedIsUsageOfTheSameHolders) {
  stands(slice_at(0, "1g.10gb", 0), {{0}});
  reach(5);
  std::vector<UsageInterval> over;
  book_->skip(Instant::at_second(5), Instant::at_second(50),
              [&](const UsageInterval& interval) { over.push_back(interval); });
  ASSERT_EQ(over.size(), 4U) << "the parts of gpu-0 had begun at that instant";
  EXPECT_EQ(over[0],
            (UsageInterval{.gpu = {0}, .what = over[0].what, .to = Instant::at_second(50), .is_observed = false}));
  EXPECT_EQ(over[0].what.from, Instant::at_second(5));
  EXPECT_EQ(over[0].what.part.holders, (std::vector<ServiceName>{{"t", "a"}}));
  EXPECT_TRUE(over[2].is_observed);
  EXPECT_EQ(over[2].to, Instant::at_second(5));
  EXPECT_FALSE(over[3].is_observed);
  EXPECT_THAT(open(0), ElementsAre("0+1 held from 50", "1+7 free from 50"));
  EXPECT_THAT(open(1), ElementsAre("0+8 free from 50"));
  std::set<std::uint64_t> sequences = {book_->open()[0][0].sequence, book_->open()[0][1].sequence,
                                       book_->open()[1][0].sequence};
  for (const UsageInterval& interval : over) sequences.insert(interval.what.sequence);
  EXPECT_EQ(sequences.size(), 7U) << "each interval has its own";
  EXPECT_THAT(usage_body(scenario_, over[0]), ::testing::EndsWith(R"(,"observed":false})"));
}

TEST_F(UsageBookTest, ItIsSavedAndRestored) {
  stands(slice_at(0, "1g.10gb", 0), {{0}});
  reach(1);
  book_->note({.at = Instant(), .what = SliceReady{.slice = slice_at(1, "full", 0)}});
  ArchiveWriter writer;
  writer(*book_);
  UsageBook other(scenario_);
  ArchiveReader reader(writer.bytes());
  reader(other);
  EXPECT_TRUE(reader.is_at_end());
  EXPECT_EQ(other.open(), book_->open());
  UsageBook smaller(sim::testing::scenario_of({}, {}, 1));
  ArchiveReader again(writer.bytes());
  again(smaller);
  EXPECT_TRUE(again.has_failed());
}

TEST_F(UsageBookTest, TheBodySaysWhoAndWhat) {
  scenario_.fleet.front().usd_per_gpu_hour = Decimal(3673, 1000);
  stands(slice_at(0, "2g.20gb", 2), {{0}}, 7);
  stands(slice_at(1, "full", 0), {{0}, {1}}, 3);
  reach(1);
  EXPECT_EQ(usage_body(scenario_, {.gpu = {0}, .what = book_->open()[0][1], .to = Instant::never()}),
            R"({"resource":"gpu-0-2g.20gb-2","epoch":7,"sequence":4,"tenant":"t","service":"a",)"
            R"("holders":[{"tenant":"t","service":"a"}],"node":"node-0","gpu":"gpu-0","gpu_model":"A100-80GB",)"
            R"("profile":"2g.20gb","start":2,"units":2,"sms":28,"memory_mib":19968,"role":"inference",)"
            R"("state":"held","price_version":1,"usd_per_gpu_hour":"3.673"})");
  EXPECT_EQ(usage_body(scenario_, {.gpu = {0}, .what = book_->open()[0][0], .to = Instant::never()}),
            R"({"resource":"gpu-0","epoch":null,"sequence":3,"tenant":null,"service":null,"holders":[],)"
            R"("node":"node-0","gpu":"gpu-0","gpu_model":"A100-80GB","profile":null,"start":0,"units":2,)"
            R"("sms":null,"memory_mib":null,"role":null,"state":"free","price_version":1,)"
            R"("usd_per_gpu_hour":"3.673"})");
  const std::string shared = usage_body(scenario_, {.gpu = {1}, .what = book_->open()[1][0], .to = Instant::never()});
  EXPECT_THAT(shared, HasSubstr(R"("tenant":"t","service":null,"holders":[{"tenant":"t","service":"a"},)"));
}

}  // namespace
}  // namespace berth::live
