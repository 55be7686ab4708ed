#include "edges/live_driver/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/chain/testing/memory_store.h"

namespace berth::edges {
namespace {

using ::testing::ElementsAre;
using Outcomes = std::map<Sha256, KeyedOutcome>;

JournalEntry encoded(const live::Entry& entry) {
  return {.at = entry.at, .wall_us = 1, .kind = "Entry", .body = std::to_string(entry.at.second())};
}

live::Entry entry_at(std::int64_t second) { return {.at = Instant::at_second(second), .what = live::Stepped{}}; }

UsageRow usage_from(std::int64_t from_us) { return {.key = {.from_us = from_us}, .to_us = from_us + 1, .body = "{}"}; }

KeyedOutcome outcome_of(std::uint8_t key, std::string body) {
  return {.key = {key}, .request = {9}, .wall_us = 1, .status = 200, .body = std::move(body)};
}

const StoreError full_journal{StoreFault::kFull, "the disk is full"};

class RecorderTest : public ::testing::Test {
 protected:
  Recorder make(Recorder::Head head = {}) {
    return {*store_.open_writer(1), head, encoded, [this] { return before_append_; }};
  }
  /// The seconds of the rows that are stored.
  std::vector<std::string> rows() {
    std::vector<std::string> bodies;
    const auto stored = (*store_.open_reader())->read(1, 100'000).value();
    bodies.reserve(stored.size());
    for (const JournalRow& row : stored) bodies.push_back(row.entry.body);
    return bodies;
  }
  std::size_t usage_count() { return (*store_.open_reader())->read_usage({}, std::nullopt, 100).value().size(); }
  std::optional<KeyedOutcome> stored_outcome(std::uint8_t key) {
    return (*store_.open_reader())->find_outcome({key}).value();
  }

  testing::MemoryStore store_;
  StoreResult<void> before_append_;
};

TEST_F(RecorderTest, RecordsWhatWasNotedBeforeTheOrder) {
  Recorder recorder = make();
  recorder.note(entry_at(1));
  EXPECT_EQ(recorder.pending_count(), 1U);
  EXPECT_TRUE(rows().empty());
  EXPECT_EQ(recorder.record({entry_at(2)}), std::nullopt);
  EXPECT_THAT(rows(), ElementsAre("1", "2"));
  EXPECT_EQ(recorder.last_sequence(), 2U);
}

TEST_F(RecorderTest, KeepsWhatWasNotedWhenAnAppendFails) {
  Recorder recorder = make();
  recorder.note(entry_at(1));
  recorder.note_usage(usage_from(0));
  store_.refuse_next(full_journal);
  recorder.keep({outcome_of(1, "{}")});
  EXPECT_EQ(recorder.record({entry_at(7)}, {outcome_of(2, "")}), "the disk is full");
  EXPECT_EQ(recorder.failure(), "the disk is full");
  EXPECT_TRUE(rows().empty());
  EXPECT_EQ(usage_count(), 0U);
  EXPECT_EQ(recorder.pending_usage().size(), 1U);
  EXPECT_TRUE(recorder.has_outcomes());
  EXPECT_EQ(recorder.find_outcomes({{1}, {2}}).value(), (Outcomes{{{1}, outcome_of(1, "{}")}}))
      << "not recorded, but known";

  recorder.note(entry_at(2));
  EXPECT_EQ(recorder.flush(), std::nullopt);
  EXPECT_THAT(rows(), ElementsAre("1", "2")) << "the order that was refused is not there";
  EXPECT_EQ(usage_count(), 1U);
  EXPECT_EQ(stored_outcome(1), outcome_of(1, "{}"));
  EXPECT_FALSE(recorder.has_outcomes());
  EXPECT_EQ(stored_outcome(2), std::nullopt);
  EXPECT_EQ(recorder.failure(), std::nullopt);
  EXPECT_EQ(recorder.pending_count(), 0U);
  EXPECT_TRUE(recorder.pending_usage().empty());
}

TEST_F(RecorderTest, AppendsNothingBeforeTheDevicesAreSafe) {
  Recorder recorder = make();
  before_append_ = tl::unexpected(StoreError{StoreFault::kFailed, "devices: cannot sync"});
  EXPECT_EQ(recorder.record({entry_at(1)}), "devices: cannot sync");
  EXPECT_TRUE(rows().empty());
  before_append_ = {};
  EXPECT_EQ(recorder.record({entry_at(1)}), std::nullopt);
  EXPECT_THAT(rows(), ElementsAre("1"));
}

TEST_F(RecorderTest, WithoutNewsSaysWhatTheLastAttemptSaid) {
  Recorder recorder = make();
  EXPECT_EQ(recorder.flush(), std::nullopt);
  store_.refuse_next(full_journal);
  EXPECT_EQ(recorder.record({entry_at(1)}), "the disk is full");
  EXPECT_EQ(recorder.flush(), "the disk is full");
}

// ---- keys

TEST_F(RecorderTest, AttachesABegunWriteOnceToTheOrderThatFollows) {
  Recorder recorder = make();
  recorder.note(entry_at(1));
  recorder.begin(outcome_of(1, ""));
  EXPECT_EQ(recorder.flush(), std::nullopt);
  EXPECT_EQ(stored_outcome(1), std::nullopt) << "what was noted before is not of this write";
  EXPECT_EQ(recorder.record({entry_at(2)}), std::nullopt);
  EXPECT_EQ(stored_outcome(1), outcome_of(1, ""));
  recorder.keep({outcome_of(1, "{}")});
  EXPECT_EQ(recorder.find_outcomes({{1}}).value(), (Outcomes{{{1}, outcome_of(1, "{}")}})) << "the newest";
  EXPECT_EQ(recorder.flush(), std::nullopt);
  EXPECT_EQ(stored_outcome(1), outcome_of(1, "{}"));
  EXPECT_EQ(recorder.record({entry_at(3)}), std::nullopt) << "a second time the store would refuse it";
}

TEST_F(RecorderTest, AWriteThatRecordedNothingIsNotAttachedToTheNext) {
  Recorder recorder = make();
  recorder.begin(outcome_of(1, ""));
  recorder.begin(std::nullopt);
  EXPECT_EQ(recorder.record({entry_at(1)}), std::nullopt);
  EXPECT_TRUE(recorder.find_outcomes({{1}}).value().empty());
}

// ---- snapshots

TEST_F(RecorderTest, ASnapshotCoversWhatWasNoted) {
  Recorder recorder = make();
  EXPECT_EQ(recorder.record({entry_at(1)}), std::nullopt);
  recorder.note(entry_at(2));
  EXPECT_EQ(recorder.rows_since_snapshot(), 2U);
  EXPECT_EQ(recorder.record_snapshot(3, "state"), std::nullopt);
  EXPECT_EQ(recorder.rows_since_snapshot(), 0U);
  EXPECT_THAT(rows(), ElementsAre("1", "2"));
  const auto snapshot = (*store_.open_reader())->latest_snapshot().value();
  EXPECT_EQ(snapshot, (JournalSnapshot{.sequence = 2, .format = 3, .body = "state"}));
}

TEST_F(RecorderTest, ASnapshotThatIsRefusedCountsForNothing) {
  Recorder recorder = make();
  recorder.note(entry_at(1));
  store_.refuse_next(full_journal);
  EXPECT_EQ(recorder.record_snapshot(1, "state"), "the disk is full");
  EXPECT_EQ(recorder.rows_since_snapshot(), 1U);
  EXPECT_EQ((*store_.open_reader())->latest_snapshot().value(), std::nullopt);
  EXPECT_EQ(recorder.flush(), std::nullopt);
  EXPECT_THAT(rows(), ElementsAre("1"));
}

TEST_F(RecorderTest, WhileASnapshotIsAppendedAnswersAreKept) {
  Recorder recorder = make();
  recorder.keep({outcome_of(1, "before")});
  recorder.note(entry_at(1));
  Recorder::Draft draft = recorder.draft_snapshot(3, "state");
  EXPECT_EQ(recorder.pending_count(), 0U);
  recorder.keep({outcome_of(2, "meanwhile")});
  EXPECT_EQ(recorder.find_outcomes({{1}}).value().at({1}).body, "before");
  const auto appended = recorder.append(draft);
  EXPECT_EQ(recorder.settle(std::move(draft), appended), std::nullopt);
  EXPECT_EQ(recorder.rows_since_snapshot(), 0U);
  EXPECT_EQ(recorder.last_sequence(), 1U);
  EXPECT_TRUE(stored_outcome(1).has_value());
  EXPECT_FALSE(stored_outcome(2).has_value());
  EXPECT_TRUE(recorder.has_outcomes());
  EXPECT_EQ(recorder.flush(), std::nullopt);
  EXPECT_TRUE(stored_outcome(2).has_value());
}

TEST_F(RecorderTest, ASnapshotIsDueAfterRowsThatAreWorthIt) {
  Recorder small = make({.last_sequence = 0, .snapshot_sequence = 0, .snapshot_bytes = 100});
  std::vector<live::Entry> entries(19'999, entry_at(1));
  ASSERT_EQ(small.record(entries), std::nullopt);
  EXPECT_FALSE(small.is_snapshot_due());
  small.note(entry_at(1));
  EXPECT_TRUE(small.is_snapshot_due());
  ASSERT_EQ(small.record_snapshot(1, std::string(1'000'000, 's')), std::nullopt);
  ASSERT_EQ(small.record(entries), std::nullopt);
  ASSERT_EQ(small.record(entries), std::nullopt);
  EXPECT_FALSE(small.is_snapshot_due()) << "40,000 bytes of rows next to 1,000,000 of a snapshot";
  entries.resize(100'000 - 2 * 19'999, entry_at(1));
  ASSERT_EQ(small.record(entries), std::nullopt);
  EXPECT_TRUE(small.is_snapshot_due()) << "a start should not repeat more";
}

// ---- the reserve

class FakeReserve : public DiskReserve {
 public:
  [[nodiscard]] std::uint64_t bytes() const override { return 8000; }
  [[nodiscard]] bool is_kept() const override { return is_kept_; }
  bool keep() override { return is_kept_ = is_kept_ || has_room; }
  void release() override { is_kept_ = false; }

  bool has_room = false;

 private:
  bool is_kept_ = true;
};

live::Entry event(decltype(Event::what) what) {
  return {.at = Instant(), .what = live::EventSeen{{.at = Instant(), .what = std::move(what)}}};
}

TEST_F(RecorderTest, VitalAreOrdersThatTakeLoadOrHoldStill) {
  const live::Entry removal{.at = Instant(), .what = live::ServiceDropped{}};
  EXPECT_TRUE(are_vital({removal, {.at = Instant(), .what = live::TenantDropped{}}}));
  EXPECT_TRUE(are_vital({event(PlanningPaused{})}));
  EXPECT_TRUE(are_vital({event(GpuScheduled{.gpu = {0}, .scheduling = GpuScheduling::kCordoned})}));
  EXPECT_TRUE(are_vital({event(GpuScheduled{.gpu = {0}, .scheduling = GpuScheduling::kDraining})}));
  EXPECT_FALSE(are_vital({event(GpuScheduled{.gpu = {0}, .scheduling = GpuScheduling::kOpen})}));
  EXPECT_FALSE(are_vital({event(PlanningResumed{})}));
  EXPECT_FALSE(are_vital({removal, entry_at(1)}));
  EXPECT_FALSE(are_vital({removal, {.at = Instant(), .what = live::ServiceStored{}}}));
  EXPECT_FALSE(are_vital({}));
}

TEST_F(RecorderTest, AVitalOrderHasTheReserveOfAFullDisk) {
  FakeReserve reserve;
  Recorder recorder = make();
  recorder.guard(reserve);
  recorder.note(entry_at(1));
  store_.refuse_next(full_journal);
  EXPECT_EQ(recorder.record({entry_at(7)}), "the disk is full");
  EXPECT_TRUE(reserve.is_kept()) << "not for any other order";
  store_.refuse_next(full_journal);
  const live::Entry pause = event(PlanningPaused{.reason = "r"});
  EXPECT_EQ(recorder.record({pause}, {outcome_of(1, "")}), std::nullopt);
  EXPECT_FALSE(reserve.is_kept());
  EXPECT_THAT(rows(), ElementsAre("1", "0")) << "with what was noted before";
  EXPECT_EQ(stored_outcome(1), outcome_of(1, ""));
  ASSERT_TRUE(recorder.failure().has_value());

  // While it is in use nothing else is recorded, although there would be space.
  recorder.note(entry_at(2));
  EXPECT_EQ(recorder.record({entry_at(8)}), recorder.failure());
  EXPECT_EQ(recorder.flush(), recorder.failure());
  EXPECT_EQ(recorder.record_blob({.blob = {1}}), recorder.failure());
  EXPECT_EQ(recorder.store_part({.blob = {1}, .bytes = "x"}, {.blob = {1}}), recorder.failure());
  EXPECT_THAT(rows(), ElementsAre("1", "0"));
  recorder.keep({outcome_of(2, "{}")});
  EXPECT_EQ(recorder.record({pause}), std::nullopt);
  EXPECT_THAT(rows(), ElementsAre("1", "0", "2", "0"));
  EXPECT_EQ(stored_outcome(2), std::nullopt) << "what others ask does not use it up";

  reserve.has_room = true;
  recorder.note(entry_at(3));
  EXPECT_EQ(recorder.flush(), std::nullopt);
  EXPECT_TRUE(reserve.is_kept());
  EXPECT_EQ(recorder.failure(), std::nullopt);
  EXPECT_THAT(rows(), ElementsAre("1", "0", "2", "0", "3"));
  EXPECT_EQ(stored_outcome(2), outcome_of(2, "{}"));
}

TEST_F(RecorderTest, TheReserveIsNotForAnswers) {
  FakeReserve reserve;
  Recorder recorder = make();
  recorder.guard(reserve);
  const live::Entry pause = event(PlanningPaused{.reason = "r"});
  recorder.keep({outcome_of(1, "{}")});
  for (std::uint8_t key = 2; key <= 3; ++key) {  // the first releases it
    if (key == 2) store_.refuse_next(full_journal);
    EXPECT_EQ(recorder.record({pause}, {outcome_of(key, "{}")}), std::nullopt);
    EXPECT_FALSE(reserve.is_kept());
    EXPECT_EQ(stored_outcome(key), outcome_of(key, "")) << "begun";
    EXPECT_EQ(recorder.find_outcomes({{key}}).value().at({key}), outcome_of(key, "{}")) << "and known";
  }
  EXPECT_EQ(stored_outcome(1), std::nullopt);
  reserve.has_room = true;
  EXPECT_EQ(recorder.flush(), std::nullopt);
  for (std::uint8_t key = 1; key <= 3; ++key) EXPECT_EQ(stored_outcome(key), outcome_of(key, "{}"));
  EXPECT_FALSE(recorder.has_outcomes());
}

TEST_F(RecorderTest, AnswersThatWaitForSpaceAreLimited) {
  FakeReserve reserve;
  reserve.release();
  Recorder recorder = make();
  recorder.guard(reserve);
  const std::string long_text(std::size_t{6} << 20U, 'x');
  for (std::uint8_t key = 1; key <= 3; ++key) {
    EXPECT_EQ(recorder.record({event(PlanningPaused{})}, {outcome_of(key, long_text)}), std::nullopt);
  }
  EXPECT_TRUE(recorder.find_outcomes({{2}}).value().at({2}).is_finished());
  EXPECT_FALSE(recorder.find_outcomes({{3}}).value().at({3}).is_finished()) << "it stays begun";
}

TEST_F(RecorderTest, AnAnswerThatWasNotGivenIsForgotten) {
  Recorder recorder = make();
  recorder.keep({outcome_of(1, "{}"), outcome_of(2, "{}")});
  recorder.forget({1});
  EXPECT_EQ(recorder.flush(), std::nullopt);
  EXPECT_EQ(stored_outcome(1), std::nullopt);
  EXPECT_EQ(stored_outcome(2), outcome_of(2, "{}"));
}

TEST_F(RecorderTest, WithoutItsReserveOnlyVitalOrdersAreRecordedFromTheStart) {
  FakeReserve reserve;
  reserve.release();
  Recorder recorder = make();
  recorder.guard(reserve);
  EXPECT_TRUE(recorder.failure().has_value());
  EXPECT_TRUE(recorder.record({entry_at(1)}).has_value());
  EXPECT_EQ(recorder.record({event(PlanningPaused{})}), std::nullopt);
}

TEST_F(RecorderTest, AFailureOfAnotherKindDoesNotReleaseTheReserve) {
  FakeReserve reserve;
  Recorder recorder = make();
  recorder.guard(reserve);
  store_.refuse_next({StoreFault::kFailed, "cannot sync"});
  EXPECT_EQ(recorder.record({event(PlanningPaused{})}), "cannot sync");
  EXPECT_TRUE(reserve.is_kept());
}

TEST_F(RecorderTest, TheWorldStandsStillBeforeItUsesUpTheReserve) {
  FakeReserve reserve;
  Recorder recorder = make();
  recorder.guard(reserve);
  const auto note_many = [&] {
    for (int i = 0; i < 15; ++i) recorder.note(entry_at(i));
  };
  note_many();
  note_many();
  EXPECT_TRUE(recorder.has_room_for_world()) << "while it can be recorded it may wait";
  ASSERT_EQ(recorder.flush(), std::nullopt);
  store_.refuse_next(full_journal, 2);
  recorder.note(entry_at(1));
  EXPECT_TRUE(recorder.flush().has_value());
  EXPECT_TRUE(recorder.has_room_for_world());
  note_many();
  EXPECT_EQ(recorder.record({event(PlanningPaused{})}), std::nullopt);
  EXPECT_TRUE(recorder.has_room_for_world()) << "1,600 bytes of 2,000";
  for (int i = 0; i < 5; ++i) recorder.note(entry_at(i));
  EXPECT_FALSE(recorder.has_room_for_world());
  reserve.has_room = true;
  EXPECT_EQ(recorder.flush(), std::nullopt);
  EXPECT_TRUE(recorder.has_room_for_world());
}

TEST_F(RecorderTest, OutcomesThatWaitAreLimited) {
  Recorder recorder = make();
  for (int number = 0; number < 10'000; ++number) {
    EXPECT_FALSE(recorder.is_full_of_outcomes());
    KeyedOutcome outcome = outcome_of(0, "{}");
    outcome.key = {static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8)};
    recorder.keep({outcome});
  }
  EXPECT_TRUE(recorder.is_full_of_outcomes());
  EXPECT_EQ(recorder.flush(), std::nullopt);
  EXPECT_FALSE(recorder.is_full_of_outcomes());
}

}  // namespace
}  // namespace berth::edges
