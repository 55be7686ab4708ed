#include "edges/live_driver/write_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "live/chain/testing/memory_store.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/usage_book.h"
#include "sim/world/testing/scenarios.h"

namespace berth::edges {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const StoreError full_store{StoreFault::kFull, "the disk is full"};

/// Orders in words: "set a", "removed a", "tenant u".
std::string word_of(const live::Entry& entry) {
  if (const auto* set = std::get_if<live::ServiceStored>(&entry.what)) return "set " + set->name.name;
  if (const auto* removed = std::get_if<live::ServiceDropped>(&entry.what)) return "removed " + removed->name.name;
  if (const auto* tenant = std::get_if<live::TenantStored>(&entry.what)) return "tenant " + tenant->name;
  return "";
}

/// An append with orders or outcomes.
struct Appended {
  std::vector<std::string> orders;
  std::vector<KeyedOutcome> outcomes;
};

/// Passes everything on, and remembers it.
class WatchedWriter : public JournalWriter {
 public:
  WatchedWriter(std::unique_ptr<JournalWriter> writer, std::vector<Appended>& appends,
                const std::function<void()>& before)
      : writer_(std::move(writer)), appends_(appends), before_(before) {}

  [[nodiscard]] StoreResult<std::uint64_t> append(const JournalBatch& batch) override {
    Appended appended{.orders = {}, .outcomes = batch.outcomes};
    for (const JournalEntry& entry : batch.entries) {
      if (!entry.kind.empty()) appended.orders.push_back(entry.kind);
    }
    if (before_ && !appended.orders.empty()) before_();
    auto result = writer_->append(batch);
    if (result && !(appended.orders.empty() && appended.outcomes.empty())) appends_.push_back(appended);
    return result;
  }
  [[nodiscard]] StoreResult<std::map<Sha256, KeyedOutcome>> find_outcomes(const std::vector<Sha256>& keys) override {
    return writer_->find_outcomes(keys);
  }
  [[nodiscard]] StoreResult<bool> prune(const PruneLimits& limits) override { return writer_->prune(limits); }
  [[nodiscard]] StoreResult<bool> prune_usage(std::int64_t before_us) override {
    return writer_->prune_usage(before_us);
  }
  [[nodiscard]] StoreResult<bool> prune_blobs(const BlobUse& use) override { return writer_->prune_blobs(use); }

 private:
  std::unique_ptr<JournalWriter> writer_;
  std::vector<Appended>& appends_;
  const std::function<void()>& before_;
};

/// The outcome of a write.
struct Came {
  int joined_count = 0;
  std::optional<StoreResult<KeyedOutcome>> before;  ///< of its key
  live::WriteAnswer answer;
  bool is_sent = false;
};

ServiceSpec spec_of(std::vector<Pin> pins = {}) {
  ServiceSpec spec = sim::testing::service_of("any", {{.profile = "1g.10gb"}},
                                              sim::testing::generated(Generator::Kind::kConstant, Decimal(1), 600));
  spec.pins = std::move(pins);
  return spec;
}

/// An empty fleet of two GPUs with the tenant "t".
class WriteQueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto writer = std::make_unique<WatchedWriter>(*store_.open_writer(1), appends_, before_append_);
    const auto encode = [](const live::Entry& entry) {
      return JournalEntry{.at = entry.at, .wall_us = 1, .kind = word_of(entry), .body = "{}"};
    };
    recorder_ =
        std::make_unique<Recorder>(std::move(writer), Recorder::Head{}, encode, std::function<StoreResult<void>()>());
    Scenario scenario = sim::testing::scenario_of({}, {}, 2);
    scenario.layout.reset();
    live::SessionOptions options;
    options.listener.entry = [this](const live::Entry& entry) { recorder_->note(entry); };
    options.records_first = true;
    options.listener.record = [this](const std::vector<live::Entry>& entries) { return recorder_->record(entries); };
    options.listener.usage = [this](const live::UsageInterval& usage) {
      recorder_->note_usage(
          {.key = {.gpu = usage.gpu.index, .start = usage.what.part.start, .from_us = usage.what.from.micros()},
           .to_us = usage.to.micros(),
           .body = "{}"});
    };
    session_ = std::move(*live::Session::make(std::move(scenario), std::move(options)));
    session_->begin();
    ASSERT_TRUE(session_->set_tenant("t", {}, std::nullopt));
    appends_.clear();
    queue_ = std::make_unique<WriteQueue>(
        *session_, turn_, lock_, *recorder_, [] { return std::int64_t{5}; }, [this] { ++group_count_; });
  }

  /// Gives the write its answer, its name in the order of answers, and a key.
  std::shared_ptr<Came> complete(live::Write& write, const std::string& name, const std::shared_ptr<Came>& came,
                                 std::optional<live::WriteKey> key) {
    write.render = [this, came]() -> const live::WriteAnswer& {
      if (at_render_) at_render_();
      return came->answer;
    };
    write.refuse = [came](const std::string& failure) { came->answer = {.status = 503, .body = failure}; };
    write.send = [this, name, came] {
      came->is_sent = true;
      sent_.push_back(name);
    };
    if (key) {
      key->repeat = [came](const StoreResult<KeyedOutcome>& before) {
        came->before = before;
        if (before) came->answer = {.status = before->status, .body = before->is_finished() ? before->body : "now"};
      };
    }
    write.key = std::move(key);
    return came;
  }

  std::shared_ptr<Came> put(const std::string& service, const std::string& label,
                            std::optional<live::WriteKey> key = std::nullopt, const std::vector<Pin>& pins = {},
                            const std::string& tenant = "t", const std::string& foretold = "") {
    const auto came = std::make_shared<Came>();
    const live::ServiceName name{.tenant = tenant, .name = service};
    live::ServiceWrite write;
    write.join = [came, name, label, pins](const live::Session& session,
                                           live::OrderBatch& batch) -> std::optional<int> {
      if (!batch.has_room_for(name, !pins.empty())) return std::nullopt;
      ++came->joined_count;
      const auto added = session.add_service(batch, name, spec_of(pins), {{"label", label}}, std::nullopt);
      came->answer.status = !added ? 404 : *added == live::SetResult::kCreated ? 201 : 200;
      return came->answer.status;
    };
    if (!foretold.empty()) write.foretell = [foretold] { return foretold; };
    write.settle = [came, name](const live::Session& session, const std::optional<std::string>& failure) {
      const auto known = session.catalog().services.find(name);
      if (failure) came->answer = {.status = 503, .body = *failure};
      if (!failure && known != session.catalog().services.end()) {
        came->answer.body = known->second.meta.labels.at("label") + std::to_string(known->second.meta.version);
      }
      if (came->answer.body.empty()) came->answer.body = "none";
    };
    live::Write whole{.what = std::move(write), .key = std::nullopt, .render = {}, .refuse = {}, .send = {}};
    complete(whole, service + label, came, std::move(key));
    queue_->submit(std::move(whole));
    return came;
  }

  std::shared_ptr<Came> remove(const std::string& service, std::optional<live::WriteKey> key = std::nullopt) {
    const auto came = std::make_shared<Came>();
    const live::ServiceName name{.tenant = "t", .name = service};
    live::ServiceWrite write;
    write.join = [came, name](const live::Session& session, live::OrderBatch& batch) -> std::optional<int> {
      if (!batch.has_room_for(name, false)) return std::nullopt;
      ++came->joined_count;
      came->answer.status = session.add_removal(batch, name, std::nullopt) ? 200 : 404;
      return came->answer.status;
    };
    write.settle = [came](const live::Session& /*session*/, const std::optional<std::string>& failure) {
      came->answer.body = "removed";
      if (failure) came->answer = {.status = 503, .body = *failure};
    };
    live::Write whole{.what = std::move(write), .key = std::nullopt, .render = {}, .refuse = {}, .send = {}};
    complete(whole, service, came, std::move(key));
    queue_->submit(std::move(whole));
    return came;
  }

  std::shared_ptr<Came> put_tenant(const std::string& tenant, std::optional<live::WriteKey> key = std::nullopt,
                                   std::function<live::WriteAnswer()> foretell = nullptr) {
    const auto came = std::make_shared<Came>();
    const auto run = [this, came, tenant] {
      const std::scoped_lock hold(lock_);
      ++came->joined_count;
      const auto set = session_->set_tenant(tenant, {}, std::nullopt);
      came->answer = {.status = set ? 200 : 503, .body = "tenant"};
    };
    live::Write whole{.what = live::LoneWrite{.status = 200, .run = run, .foretell = std::move(foretell)},
                      .key = {},
                      .render = {},
                      .refuse = {},
                      .send = {}};
    complete(whole, tenant, came, std::move(key));
    queue_->submit(std::move(whole));
    return came;
  }

  /// Carries out the submitted writes.
  void run() {
    queue_->start();
    queue_->stop();
  }

  static live::WriteKey key_of(std::uint8_t key, std::uint8_t request = 1) {
    return {.key = {key}, .request = {request}, .repeat = {}};
  }
  KeyedOutcome outcome_of(std::uint8_t key) { return recorder_->find_outcomes({{key}}).value().at({key}); }
  [[nodiscard]] std::string label_of(const std::string& service) const {
    const auto known = session_->catalog().services.find({.tenant = "t", .name = service});
    return known == session_->catalog().services.end() ? "" : known->second.meta.labels.at("label");
  }

  testing::MemoryStore store_;
  std::vector<Appended> appends_;
  std::function<void()> before_append_;  ///< of orders
  std::function<void()> at_render_;
  std::unique_ptr<Recorder> recorder_;
  FairMutex turn_;
  FairMutex lock_;
  std::unique_ptr<live::Session> session_;
  int group_count_ = 0;
  std::vector<std::string> sent_;
  std::unique_ptr<WriteQueue> queue_;
};

// ---- groups

TEST_F(WriteQueueTest, WritesOfDistinctServicesShareOneAppend) {
  std::vector<std::shared_ptr<Came>> all;
  all.reserve(20);
  for (int i = 0; i < 20; ++i) all.push_back(put("s" + std::to_string(i), "x"));
  run();
  ASSERT_THAT(appends_, SizeIs(1));
  EXPECT_THAT(appends_[0].orders, SizeIs(20));
  EXPECT_EQ(group_count_, 1);
  std::map<std::string, std::shared_ptr<Came>> bodies;
  for (const auto& came : all) {
    EXPECT_EQ(came->answer.status, 201);
    EXPECT_TRUE(came->is_sent);
    bodies[came->answer.body] = came;
  }
  EXPECT_EQ(bodies.size(), 20U) << "each has a version of its own";
  EXPECT_EQ(session_->scenario().services.size(), 20U) << "and a place";
}

TEST_F(WriteQueueTest, TwoOfOneServiceAreCarriedOutInOrder) {
  const auto first = put("a", "x");
  put("b", "x");
  const auto second = put("a", "y");
  run();
  ASSERT_THAT(appends_, SizeIs(2));
  EXPECT_THAT(appends_[0].orders, ElementsAre("set a", "set b"));
  EXPECT_THAT(appends_[1].orders, ElementsAre("set a"));
  EXPECT_EQ(first->answer.status, 201);
  EXPECT_EQ(second->answer.status, 200);
  EXPECT_EQ(label_of("a"), "y");
}

TEST_F(WriteQueueTest, OneWithPinsWaitsAndIsAlone) {
  put("a", "x");
  put("p", "x", std::nullopt, {{.slice = sim::testing::slice_at(0, "1g.10gb", 0)}});
  put("b", "x");
  run();
  ASSERT_THAT(appends_, SizeIs(2));
  EXPECT_THAT(appends_[0].orders, ElementsAre("set a", "set b"));
  EXPECT_THAT(appends_[1].orders, ElementsAre("set p"));
}

TEST_F(WriteQueueTest, ALoneWriteKeepsItsPlaceBetweenOthers) {
  put("a", "x");
  put_tenant("u");
  const auto later = put("b", "x", std::nullopt, {}, "u");
  run();
  ASSERT_THAT(appends_, SizeIs(3));
  EXPECT_THAT(appends_[0].orders, ElementsAre("set a"));
  EXPECT_THAT(appends_[1].orders, ElementsAre("tenant u"));
  EXPECT_EQ(later->answer.status, 201);
  EXPECT_THAT(sent_, ElementsAre("ax", "u", "bx"));
}

TEST_F(WriteQueueTest, WhatChangesNothingIsNotRecorded) {
  put("a", "x");
  const auto again = put("a", "x");
  const auto nowhere = put("b", "x", std::nullopt, {}, "nobody");
  run();
  EXPECT_THAT(appends_, SizeIs(1));
  EXPECT_EQ(again->answer.status, 200);
  EXPECT_EQ(nowhere->answer.status, 404);
}

TEST_F(WriteQueueTest, WhatCannotBeRecordedChangesNothingAndIsAnswered) {
  const auto a = put("a", "x", key_of(1));
  const auto b = put("b", "x");
  session_->refresh();
  ASSERT_EQ(recorder_->flush(), std::nullopt);
  store_.refuse_next(full_store);
  run();
  EXPECT_THAT(appends_, IsEmpty());
  for (const auto& came : {a, b}) {
    EXPECT_EQ(came->answer.status, 503);
    EXPECT_EQ(came->answer.body, "the disk is full");
    EXPECT_TRUE(came->is_sent);
  }
  EXPECT_TRUE(session_->catalog().services.empty());
  EXPECT_TRUE(session_->scenario().services.empty());
  EXPECT_TRUE(recorder_->find_outcomes({{1}}).value().empty()) << "the key may be used again";
}

TEST_F(WriteQueueTest, OfAGroupThatCannotBeRecordedTheRemovalsAreTriedAlone) {
  for (const std::string name : {"a", "b"}) {
    ASSERT_TRUE(session_->set_service({.tenant = "t", .name = name}, spec_of(), {{"label", "x"}}, std::nullopt));
  }
  session_->refresh();
  ASSERT_EQ(recorder_->flush(), std::nullopt);
  appends_.clear();
  const auto gone = remove("a", key_of(1));
  const auto set = put("c", "x", key_of(2));
  const auto gone_too = remove("b");
  store_.refuse_next(full_store);
  run();
  EXPECT_EQ(gone->answer.status, 200);
  EXPECT_EQ(gone_too->answer.status, 200);
  EXPECT_EQ(set->answer.status, 503);
  EXPECT_TRUE(session_->catalog().services.empty());
  ASSERT_FALSE(appends_.empty());
  EXPECT_THAT(appends_[0].outcomes, SizeIs(1)) << "the key of the removal";
  EXPECT_EQ(outcome_of(1).body, "removed");
  EXPECT_TRUE(recorder_->find_outcomes({{2}}).value().empty()) << "may be used again";
}

TEST_F(WriteQueueTest, WhileTooManyOutcomesWaitNewKeysAreRefused) {
  std::vector<KeyedOutcome> waiting(10'000);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    waiting[i] = {.key = {1, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8)}, .body = "{}"};
  }
  recorder_->keep(waiting);
  const auto fresh = put("a", "x", key_of(9));
  const auto without = put("b", "x");
  run();
  ASSERT_TRUE(fresh->before && !*fresh->before);
  EXPECT_EQ(fresh->joined_count, 0);
  EXPECT_EQ(without->answer.status, 201);
}

TEST_F(WriteQueueTest, WhileAGroupIsRecordedOthersReadAndTheNextGroupCollects) {
  std::promise<void> is_recording;
  std::promise<void> may_go_on;
  int count = 0;
  before_append_ = [&] {
    if (++count > 1) return;
    is_recording.set_value();
    may_go_on.get_future().wait();
  };
  const auto first = put("a", "x");
  queue_->start();
  is_recording.get_future().wait();
  {
    const std::scoped_lock hold(lock_);
    session_->refresh();
    EXPECT_TRUE(session_->catalog().services.empty()) << "nothing comes of it before it is recorded";
  }
  EXPECT_EQ(turn_.users(), 1U) << "the world waits";
  for (int i = 0; i < 5; ++i) put("s" + std::to_string(i), "x");
  may_go_on.set_value();
  queue_->stop();
  ASSERT_THAT(appends_, SizeIs(2));
  EXPECT_THAT(appends_[1].orders, SizeIs(5));
  EXPECT_TRUE(first->is_sent);
  EXPECT_EQ(session_->catalog().services.size(), 6U);
}

TEST_F(WriteQueueTest, ReadersAndWritersAtOnce) {
  queue_->start();
  std::vector<std::shared_ptr<Came>> all;
  std::thread reader([this] {
    for (int i = 0; i < 2000; ++i) {
      if (i % 10 == 0) store_.refuse_next(full_store, 4);
      const std::scoped_lock hold(lock_);
      session_->refresh();
      if (!recorder_->pending_usage().empty()) static_cast<void>(recorder_->flush());
    }
  });
  std::thread world([this] {
    for (int i = 1; i < 300; ++i) {
      const std::scoped_lock turn(turn_);
      const std::scoped_lock hold(lock_);
      static_cast<void>(session_->advance(Instant::at_second(i)));
      if (i % 10 == 0) static_cast<void>(recorder_->flush());
    }
  });
  for (std::uint8_t i = 0; i < 200; ++i) {
    std::this_thread::yield();
    all.push_back(i % 7 == 0 ? put_tenant("t" + std::to_string(i), key_of(i))
                             : put("s" + std::to_string(i % 5), std::to_string(i), key_of(i)));
  }
  reader.join();
  world.join();
  queue_->stop();
  for (const auto& came : all) EXPECT_TRUE(came->is_sent);
}

TEST_F(WriteQueueTest, TheEndCarriesOutWhatWaitsAndTakesNothingMore) {
  const auto first = put("a", "x");
  const auto second = put("a", "y");
  run();
  const auto late = put("b", "x");
  queue_->stop();
  EXPECT_TRUE(first->is_sent);
  EXPECT_TRUE(second->is_sent);
  EXPECT_FALSE(late->is_sent);
  EXPECT_EQ(label_of("b"), "");
}

// ---- keys

TEST_F(WriteQueueTest, AKeyBeginsWithTheOrderAndIsFinishedBeforeTheAnswer) {
  const auto came = put("a", "x", key_of(1));
  put("b", "x", key_of(2));
  run();
  ASSERT_THAT(appends_, SizeIs(2)) << "two writes with keys share both";
  EXPECT_THAT(appends_[0].outcomes, SizeIs(2));
  EXPECT_FALSE(appends_[0].outcomes[0].is_finished());
  EXPECT_EQ(appends_[0].outcomes[0].status, 201);
  EXPECT_THAT(appends_[1].orders, IsEmpty());
  EXPECT_EQ(outcome_of(1),
            (KeyedOutcome{.key = {1}, .request = {1}, .wall_us = 5, .status = 201, .body = came->answer.body}));
}

TEST_F(WriteQueueTest, AGroupKeepsTheAnswersOfTheOneBeforeAndThenTheyAreSent) {
  const auto first = put("a", "x", key_of(1));
  const auto second = put("a", "y", key_of(2));
  const auto without_key = put("b", "x");
  int count = 0;
  before_append_ = [&] {
    if (++count == 1) return;
    EXPECT_FALSE(first->is_sent) << "a kill now must not take back what a client has";
    EXPECT_TRUE(without_key->is_sent);
  };
  run();
  ASSERT_THAT(appends_, SizeIs(3));
  ASSERT_THAT(appends_[1].outcomes, SizeIs(2)) << "one begun, one finished";
  EXPECT_THAT(appends_[1].orders, ElementsAre("set a"));
  EXPECT_THAT(appends_[2].outcomes, SizeIs(1)) << "nobody waits for another group";
  EXPECT_THAT(sent_, ElementsAre("bx", "ax", "ay"));
  EXPECT_TRUE(outcome_of(2).is_finished());
  EXPECT_TRUE(second->is_sent);
}

TEST_F(WriteQueueTest, OfTwoAtOnceUnderOneKeyOneIsCarriedOut) {
  const auto first = put("a", "x", key_of(1));
  const auto second = put("a", "x", key_of(1));
  put("b", "x");
  run();
  EXPECT_EQ(first->joined_count, 1);
  EXPECT_EQ(second->joined_count, 0);
  ASSERT_TRUE(second->before && *second->before);
  EXPECT_EQ((*second->before)->body, first->answer.body);
  EXPECT_EQ(second->answer.status, 201);
  EXPECT_TRUE(second->is_sent);
}

TEST_F(WriteQueueTest, AnotherRequestUnderTheKeyIsNotCarriedOut) {
  put("a", "x", key_of(1, 1));
  const auto other = put("b", "x", key_of(1, 2));
  run();
  EXPECT_EQ(other->joined_count, 0);
  ASSERT_TRUE(other->before && *other->before);
  EXPECT_EQ((*other->before)->request, Sha256{1}) << "whoever answers sees that it is another one";
  EXPECT_EQ(label_of("b"), "");
  EXPECT_EQ(outcome_of(1).request, Sha256{1});
}

TEST_F(WriteQueueTest, ARefusalIsKeptWithoutAnOrder) {
  put("a", "x", key_of(1), {}, "nobody");
  run();
  ASSERT_THAT(appends_, SizeIs(1));
  EXPECT_THAT(appends_[0].orders, IsEmpty());
  EXPECT_EQ(outcome_of(1).status, 404);
  EXPECT_TRUE(outcome_of(1).is_finished());
}

TEST_F(WriteQueueTest, ALoneWriteHasItsKeyWithItsOrder) {
  put_tenant("u", key_of(1));
  put_tenant("t", key_of(2));  // changes nothing
  put("a", "x");
  run();
  ASSERT_THAT(appends_, SizeIs(3));
  EXPECT_THAT(appends_[0].orders, ElementsAre("tenant u"));
  EXPECT_THAT(appends_[0].outcomes, SizeIs(1));
  EXPECT_THAT(appends_[1].orders, IsEmpty()) << "the next group had no order to keep the answer with";
  EXPECT_THAT(appends_[2].orders, ElementsAre("set a"));
  ASSERT_THAT(appends_[2].outcomes, SizeIs(1));
  EXPECT_TRUE(appends_[2].outcomes[0].is_finished()) << "no order stands on the write before";
  EXPECT_TRUE(outcome_of(1).is_finished());
  EXPECT_TRUE(outcome_of(2).is_finished());
}

TEST_F(WriteQueueTest, AnAnswerThatIsKnownBeforeIsRecordedWithTheOrder) {
  put_tenant("u", key_of(1), [] { return live::WriteAnswer{.status = 201, .body = "tenant"}; });
  run();
  ASSERT_THAT(appends_[0].outcomes, SizeIs(1));
  EXPECT_THAT(appends_[0].orders, ElementsAre("tenant u"));
  EXPECT_EQ(appends_[0].outcomes[0].body, "tenant");
  EXPECT_EQ(outcome_of(1).body, "tenant");
  EXPECT_EQ(outcome_of(1).status, 201);
  EXPECT_THAT(appends_, SizeIs(1)) << "there is nothing more to record";
  EXPECT_THAT(sent_, ElementsAre("u"));
}

TEST_F(WriteQueueTest, AForetoldAnswerOfAServiceIsRecordedWithTheOrderAndSentAtOnce) {
  const auto known = put("a", "x", key_of(1), {}, "t", "foretold");
  const auto unknown = put("b", "x", key_of(2));
  run();
  ASSERT_THAT(appends_, SizeIs(2));
  ASSERT_THAT(appends_[0].outcomes, SizeIs(2));
  EXPECT_EQ(appends_[0].outcomes[0].body, "foretold");
  EXPECT_FALSE(appends_[0].outcomes[1].is_finished());
  EXPECT_THAT(appends_[1].outcomes, SizeIs(1)) << "of the other one";
  EXPECT_EQ(outcome_of(1).body, "foretold");
  EXPECT_THAT(sent_, ElementsAre("ax", "bx"));
  EXPECT_TRUE(known->is_sent && unknown->is_sent);
}

TEST_F(WriteQueueTest, WhatWasForetoldAndCannotBeRecordedIsNotKept) {
  session_->refresh();
  ASSERT_EQ(recorder_->flush(), std::nullopt);
  store_.refuse_next(full_store);
  const auto refused = put("a", "x", key_of(1), {}, "t", "foretold");
  run();
  EXPECT_EQ(refused->answer.status, 503);
  EXPECT_TRUE(recorder_->find_outcomes({{1}}).value().empty()) << "the key may be used again";
}

TEST_F(WriteQueueTest, WhatAKillLeftBegunIsAnsweredAndFinishedButNotDoneAgain) {
  const KeyedOutcome begun{.key = {1}, .request = {1}, .wall_us = 2, .status = 201, .body = ""};
  ASSERT_EQ(recorder_->record({{.at = session_->now(), .what = live::Stepped{}}}, {begun}), std::nullopt);
  const auto came = put("a", "x", key_of(1));
  run();
  EXPECT_EQ(came->joined_count, 0);
  ASSERT_TRUE(came->before && *came->before);
  EXPECT_FALSE((*came->before)->is_finished());
  EXPECT_TRUE(came->is_sent);
  EXPECT_EQ(outcome_of(1).status, 201);
  EXPECT_EQ(outcome_of(1).body, "now");
}

TEST_F(WriteQueueTest, AnotherRequestDoesNotFinishWhatWasBegun) {
  const KeyedOutcome begun{.key = {1}, .request = {1}, .wall_us = 2, .status = 201, .body = ""};
  ASSERT_EQ(recorder_->record({{.at = session_->now(), .what = live::Stepped{}}}, {begun}), std::nullopt);
  put("a", "x", key_of(1, 2));
  run();
  EXPECT_EQ(outcome_of(1), begun);
}

TEST_F(WriteQueueTest, AnExpiredKeyIsNotCarriedOut) {
  put("a", "x", key_of(1));
  run();
  static_cast<void>(recorder_->prune({.outcomes_before_wall_us = 100}));
  queue_ = std::make_unique<WriteQueue>(*session_, turn_, lock_, *recorder_, [] { return std::int64_t{200}; }, [] {});
  const auto came = put("a", "y", key_of(1));
  run();
  EXPECT_EQ(came->joined_count, 0);
  ASSERT_TRUE(came->before && *came->before);
  EXPECT_TRUE((*came->before)->is_expired());
  EXPECT_EQ(label_of("a"), "x");
}

TEST_F(WriteQueueTest, WhatIsDoneIsAnsweredAlsoWhereItsAnswerCanOnlyBeKeptLater) {
  at_render_ = [this] { store_.refuse_next(full_store); };
  const auto came = put("a", "x", key_of(1));
  run();
  EXPECT_TRUE(came->is_sent);
  EXPECT_EQ(came->answer.status, 201);
  EXPECT_FALSE((*store_.open_reader())->find_outcome({1}).value()->is_finished());
  EXPECT_EQ(outcome_of(1).body, came->answer.body) << "a repeat gets it all the same";
  ASSERT_EQ(recorder_->flush(), std::nullopt);
  EXPECT_EQ((*store_.open_reader())->find_outcome({1}).value()->body, came->answer.body);
}

TEST_F(WriteQueueTest, WhatDidNothingIsReadOnlyWhereItsAnswerCannotBeKept) {
  const auto refused = put("a", "x", key_of(1), {}, "nobody");
  store_.refuse_next(full_store);
  run();
  EXPECT_TRUE(refused->is_sent);
  EXPECT_EQ(refused->answer.status, 503);
  EXPECT_EQ(refused->answer.body, "the disk is full");
  EXPECT_TRUE(recorder_->find_outcomes({{1}}).value().empty()) << "the key may be used again";
  EXPECT_FALSE(recorder_->has_outcomes());
}

TEST(IsKept, TellsWhichAnswersARepeatGets) {
  for (const int status : {200, 201, 204, 404, 409, 422}) EXPECT_TRUE(is_kept(status)) << status;
  for (const int status : {400, 401, 413, 415, 429, 500, 503}) EXPECT_FALSE(is_kept(status)) << status;
}

}  // namespace
}  // namespace berth::edges
