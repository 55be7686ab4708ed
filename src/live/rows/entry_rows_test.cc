#include "live/rows/entry_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/loop/engine.h"
#include "live/rows/world_rows.h"
#include "live/session/demo.h"
#include "live/session/plan_log.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/world_left.h"

namespace berth::journal {
namespace {

/// An hour of the demo that produces every kind of entry.
class Busy {
 public:
  Busy() {
    live::SessionOptions options;
    options.approval = Approval::kAlways;
    options.proposals_expire = true;
    options.listener.wall_clock = [] { return std::int64_t{1'700'000'000'000'000}; };
    options.listener.entry = [this](live::Entry entry) { entries_.push_back(std::move(entry)); };
    options.solving = sim::Solving::kElsewhere;
    options.listener.question = [this](SolveRequest request) { question_ = std::move(request); };
    auto session = live::Session::make(live::demo_scenario(), std::move(options));
    EXPECT_TRUE(session.has_value());
    session_ = std::move(*session);
    session_->begin();
    do_everything();
  }

  [[nodiscard]] const std::vector<live::Entry>& entries() const { return entries_; }
  [[nodiscard]] const live::Session& session() const { return *session_; }

 private:
  void run(std::int64_t seconds) {
    const Instant until = session_->now() + Micros::seconds(seconds);
    while (session_->now() < until) {
      if (question_) {
        const SolveRequest request = *std::exchange(question_, std::nullopt);
        session_->answer({.question = request.question, .solution = std::make_shared<const Solution>(request.solve())});
      }
      static_cast<void>(session_->advance(until));
      const live::PlanStatus* plan = session_->plans().current();
      const bool waits = plan != nullptr && plan->phase == live::PlanPhase::kAwaitingApproval;
      if (waits && approves_) static_cast<void>(session_->approve(plan->plan->id, "\"yes\" and \xc3\xa9"));
    }
  }

  void fault(sim::FaultKind kind, std::uint32_t gpu) {
    sim::FaultOrder order;
    order.kind = kind;
    order.gpus = {{gpu}};
    if (kind == sim::FaultKind::kSlow) order.duration = Micros::seconds(90);
    if (kind == sim::FaultKind::kFailDestroy || kind == sim::FaultKind::kFailCreate) order.times = 2;
    static_cast<void>(session_->inject(order));
  }

  void do_everything() {
    run(200);
    ServiceSpec spec = session_->scenario().services[1];
    spec.weight = Decimal(3, 10);
    const live::ServiceName name{.tenant = "vision", .name = "more"};
    EXPECT_TRUE(session_->set_tenant("other", {{"a", "b"}}, std::nullopt).has_value());
    EXPECT_TRUE(session_->set_service(name, spec, {}, std::nullopt).has_value());
    EXPECT_TRUE(session_->set_service(name, spec, {{"team", "x"}}, std::nullopt).has_value());
    fault(sim::FaultKind::kFailCreate, 1);
    fault(sim::FaultKind::kFailDestroy, 2);
    fault(sim::FaultKind::kSlow, 0);
    session_->schedule({1}, GpuScheduling::kDraining, "fans");
    run(100);
    fault(sim::FaultKind::kLose, 3);
    run(50);
    fault(sim::FaultKind::kReturn, 3);
    fault(sim::FaultKind::kClear, 0);
    session_->schedule({1}, GpuScheduling::kOpen, "new fans");
    session_->pause("lunch");
    run(30);
    session_->resume("work");
    session_->set_no_changes({.week_at_start = Micros(7), .spans = {{.from_minute = 9000, .until_minute = 9001}}});
    run(200);
    approves_ = false;
    run(100);
    for (int i = 0; i < 3; ++i) {
      session_->schedule({5}, GpuScheduling::kCordoned, "test");
      session_->refresh();
      run(7);
      session_->schedule({5}, GpuScheduling::kOpen, "test");
      session_->refresh();
    }
    EXPECT_TRUE(session_->remove_service(name).has_value());
    EXPECT_TRUE(session_->remove_tenant("other").has_value());
    approves_ = true;
    run(100);
    session_->emit_all();
  }

  std::optional<SolveRequest> question_;
  std::vector<live::Entry> entries_;
  std::unique_ptr<live::Session> session_;
  bool approves_ = true;
};

const Busy& busy_session() {
  static const Busy busy;
  return busy;
}

TEST(EntryRows, AServiceWithBlobsIsReadWithoutThem) {
  Scenario fleet = live::demo_scenario();
  for (FleetEntry& entry : fleet.fleet) entry.usd_per_gpu_hour = Decimal(4);
  live::ServiceStored stored;
  stored.name = {.tenant = "t", .name = "s"};
  stored.entry.blobs = {{"arrivals", std::string(64, 'a')}};
  auto spec = std::make_shared<ServiceSpec>(fleet.services[0]);
  spec->tenant = "t";
  spec->name = "s";
  spec->arrivals = {.source = CountTrace{{1, 2, 3}}, .seconds = 3};
  spec->agreed.attainment = Decimal(995, 1000);
  spec->start = Micros::seconds(7);
  spec->ready = {
      .warm_pool =
          WarmPool{.slices_min = 1, .slices_max = 2, .cold_micro_usd = 20'000, .idle_micro_usd_per_hour = 9'000'000},
      .answer = Micros::seconds(30),
      .start_of_model = Micros::seconds(3)};
  spec->running = {
      .program = ProgramChoice{.template_name = "serve", .parameters = {{"model", "m"}, {"repository", "/models"}}},
      .replicas = ReplicaLimits{.slices_min = 1, .slices_max = 3}};
  stored.set = ServiceSet{.service = stored.entry.id, .revision = 1, .spec = spec};
  for (const bool has_set : {true, false}) {
    if (!has_set) stored.set.reset();
    const live::Entry entry{.at = Instant(), .what = stored};
    const JournalEntry row = row_of(entry, fleet, 7);
    EXPECT_EQ(row.body.find(R"("rows":{"blob":"aaaa)") != std::string::npos, has_set) << row.body;
    const auto read = entry_of({.sequence = 1, .entry = row, .hash = {}}, fleet);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_TRUE(*read == entry);
  }
}

TEST(EntryRows, AreReadBackEqual) {
  const Busy& busy = busy_session();
  const Scenario fleet = live::demo_scenario();
  std::set<std::string> kinds;
  std::uint64_t sequence = 0;
  for (const live::Entry& entry : busy.entries()) {
    const JournalEntry row = row_of(entry, fleet, 7);
    kinds.insert(row.kind);
    const auto read = entry_of({.sequence = ++sequence, .entry = row, .hash = {}}, fleet);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_TRUE(*read == entry) << row.kind << " " << row.body.substr(0, 2000);
    if (::testing::Test::HasFailure()) return;
  }
  const std::set<std::string> all = {
      "ActionFailed",  "Advanced",     "Begun",          "FaultInjected", "GpuLost",        "GpuObserved",
      "GpuReturned",   "NoChangesSet", "GpuScheduled",   "PlanApproved",  "PlanningPaused", "PlanningResumed",
      "ProposalWaits", "Refreshed",    "RetrainingDone", "RetrainingDue", "Seconds",        "ServiceRemoved",
      "ServiceSet",    "SliceGone",    "SliceNoted",     "SliceReady",    "SolveFinished",  "Stepped",
      "TenantRemoved", "TenantSet",    "SolutionArrived"};
  EXPECT_EQ(kinds, all);
}

TEST(EntryRows, OfAServiceWithATraceAreExact) {
  Scenario fleet = live::demo_scenario();
  ServiceSpec spec = fleet.services[0];
  spec.arrivals.source =
      TimedTrace{.requests = {{.at_us = 17, .context_tokens = 3}, {.at_us = 1'234'567}}, .seconds = 2};
  spec.arrivals.seconds = 2;
  spec.target_ms = Decimal(1, 3);
  spec.agreed.attainment = Decimal(99, 100);
  spec.ready.answer = Micros::seconds(2);
  spec.running.program = ProgramChoice{.template_name = "echo", .parameters = {{"text", "a b"}}};
  live::ServiceStored stored;
  stored.name = {.tenant = spec.tenant, .name = spec.name};
  stored.entry.meta.version = 9;
  stored.set = ServiceSet{.service = {0}, .revision = 3, .spec = std::make_shared<const ServiceSpec>(spec)};
  const live::Entry entry{.at = Instant(5), .what = stored};
  const auto read = entry_of({.sequence = 1, .entry = row_of(entry, fleet, 0), .hash = {}}, fleet);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(*read == entry);
}

TEST(EntryRows, OfWhatDevicesSay) {
  const Scenario fleet = live::demo_scenario();
  using enum live::DeviceNote;
  const std::vector<std::pair<live::DeviceNote, std::string>> notes = {
      {kSeen, "seen"}, {kDiffers, "differs"}, {kXid, "xid"}, {kRecoveryAction, "recovery_action"}};
  for (const auto& [note, word] : notes) {
    const live::Entry entry{.at = Instant(5), .what = live::DeviceNoted{.gpu = {2}, .note = note, .text = "a \"b\""}};
    const JournalEntry row = row_of(entry, fleet, 0);
    EXPECT_EQ(row.kind, "DeviceNoted");
    EXPECT_EQ(row.body, R"({"gpu":2,"note":")" + word + R"(","text":"a \"b\""})");
    const auto read = entry_of({.sequence = 1, .entry = row, .hash = {}}, fleet);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_TRUE(*read == entry);
  }
}

TEST(EntryRows, OfTheHoldersOfForeignSlices) {
  const Scenario fleet = live::demo_scenario();
  const live::ForeignHeld held{.gpu = {1},
                               .holders = {{.slice = {.gpu = {1}, .start = 4, .profile = {0}}, .tenant = "research"}}};
  const live::Entry entry{.at = Instant(5), .what = held};
  const JournalEntry row = row_of(entry, fleet, 0);
  EXPECT_EQ(row.kind, "ForeignHeld");
  const auto read = entry_of({.sequence = 1, .entry = row, .hash = {}}, fleet);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(*read == entry) << row.body;
}

TEST(EntryRows, OfAClockThatJumped) {
  const Scenario fleet = live::demo_scenario();
  const live::Entry entry{.at = Instant(3'600'000'005), .what = live::ClockJumped{.from = Instant(5)}};
  const JournalEntry row = row_of(entry, fleet, 0);
  EXPECT_EQ(row.kind, "ClockJumped");
  EXPECT_EQ(row.body, R"({"from_us":5})");
  const auto read = entry_of({.sequence = 1, .entry = row, .hash = {}}, fleet);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(*read == entry);
}

TEST(EntryRows, OfMeasuredTimes) {
  const Scenario fleet = live::demo_scenario();
  const TimesMeasured measured{
      .change = {.model = "A100-80GB", .profile = "1g.10gb", .action = ActionKind::kDestruction},
      .time = {.median = Micros(310'000), .count = 9}};
  const live::Entry entry{.at = Instant(5), .what = live::EventSeen{{.at = Instant(5), .what = measured}}};
  JournalRow row{.sequence = 3, .entry = row_of(entry, fleet, 0), .hash = {}};
  EXPECT_EQ(row.entry.kind, "TimesMeasured");
  EXPECT_EQ(row.entry.body, R"({"change":{"model":"A100-80GB","profile":"1g.10gb","action":"destruction"},)"
                            R"("time":{"median_us":310000,"count":9}})");
  EXPECT_TRUE(entry_of(row, fleet) == entry);
  row.entry.body.replace(row.entry.body.find("310000"), 6, "-1");
  EXPECT_FALSE(entry_of(row, fleet).has_value());
}

TEST(EntryRows, OfSpeedFactors) {
  const Scenario fleet = live::demo_scenario();
  SpeedMeasured measured{.place = {.service = {2}, .gpu = "A100-80GB", .profile = "1g.10gb"},
                         .factor = Decimal(1298, 1000),
                         .batches = 214};
  live::Entry entry{.at = Instant(5), .what = live::EventSeen{{.at = Instant(5), .what = measured}}};
  JournalRow row{.sequence = 3, .entry = row_of(entry, fleet, 0), .hash = {}};
  EXPECT_EQ(row.entry.kind, "SpeedMeasured");
  EXPECT_EQ(row.entry.body, R"({"place":{"service":2,"model":"A100-80GB","profile":"1g.10gb"},"factor":"649/500",)"
                            R"("batches":214,"is_used":true})");
  EXPECT_TRUE(entry_of(row, fleet) == entry);
  row.entry.body.replace(row.entry.body.find("649"), 3, "-1");
  EXPECT_FALSE(entry_of(row, fleet).has_value());
  measured.factor.reset();
  entry.what = live::EventSeen{{.at = Instant(5), .what = measured}};
  row.entry = row_of(entry, fleet, 0);
  EXPECT_TRUE(entry_of(row, fleet) == entry);
}

/// Faults of GPUs have the rows of earlier versions.
TEST(EntryRows, OfFaultsOfServing) {
  const Scenario fleet = live::demo_scenario();
  live::FaultGiven given{.id = 4, .order = {}};
  given.order.gpus = {{1}};
  const live::Entry of_gpu{.at = Instant(5), .what = given};
  JournalRow row{.sequence = 3, .entry = row_of(of_gpu, fleet, 0), .hash = {}};
  EXPECT_EQ(row.entry.body.find("serving"), std::string::npos);
  EXPECT_TRUE(entry_of(row, fleet) == of_gpu);
  given.order.kind = sim::FaultKind::kServing;
  given.order.gpus.clear();
  given.order.serving = sim::ServingFault{.service = ServiceId{2}, .factor = Decimal(13, 10), .jitter = Decimal(1, 5)};
  const live::Entry of_service{.at = Instant(5), .what = given};
  row.entry = row_of(of_service, fleet, 0);
  EXPECT_NE(row.entry.body.find(R"("serving":{"service":2,"factor":"13/10","jitter":"1/5"})"), std::string::npos)
      << row.entry.body;
  EXPECT_TRUE(entry_of(row, fleet) == of_service);
}

TEST(EntryRows, OfLaterVersionsAndDamagedOnesAreRefused) {
  const Scenario fleet = live::demo_scenario();
  JournalRow row{.sequence = 12, .entry = row_of({.at = {}, .what = live::Begun()}, fleet, 0), .hash = {}};
  row.entry.format = kRowFormat + 1;
  EXPECT_NE(entry_of(row, fleet).error().message.find("row 12, kind Begun: wanted a format up to"), std::string::npos);
  row.entry.format = kRowFormat;
  row.entry.kind = "Beginning";
  EXPECT_FALSE(entry_of(row, fleet).has_value());
  row.entry.kind = "GpuLost";
  for (const char* body : {"", "{", "[]", "{\"gpu\":\"x\"}", "{\"gpu\":-1}", "{\"gpu\":1,\"reason\":7}"}) {
    row.entry.body = body;
    EXPECT_FALSE(entry_of(row, fleet).has_value()) << body;
  }
}

TEST(EntryRows, OfWindowsWithoutChangesAreSound) {
  const Scenario fleet = live::demo_scenario();
  const NoChanges windows{.week_at_start = Micros(7), .spans = {{.from_minute = 480, .until_minute = 1080}}};
  const live::Entry entry{.at = {}, .what = live::EventSeen{{.at = {}, .what = NoChangesSet{.windows = windows}}}};
  JournalRow row{.sequence = 3, .entry = row_of(entry, fleet, 0), .hash = {}};
  EXPECT_EQ(row.entry.kind, "NoChangesSet");
  EXPECT_EQ(row.entry.body, R"({"week_at_start_us":7,"spans":[{"from_minute":480,"until_minute":1080}]})");
  EXPECT_TRUE(entry_of(row, fleet) == entry);
  row.entry.body = R"({"week_at_start_us":7,"spans":[{"from_minute":480,"until_minute":480}]})";
  EXPECT_FALSE(entry_of(row, fleet).has_value());
}

TEST(WorldRows, AreReadBackEqual) {
  const Busy& busy = busy_session();
  const sim::WorldLeft left = busy.session().world_left();
  const auto world = read_world(world_json(left.world));
  ASSERT_TRUE(world.has_value());
  EXPECT_TRUE(*world == left.world);
  for (const world::DeviceMemory& device : left.devices) {
    const auto read = read_device(device_json(device));
    ASSERT_TRUE(read.has_value());
    EXPECT_TRUE(*read == device);
  }
  EXPECT_FALSE(read_world("{").has_value());
  EXPECT_FALSE(read_device("{\"slices\":7}").has_value());
}

}  // namespace
}  // namespace berth::journal
