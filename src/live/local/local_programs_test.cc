#include "live/local/local_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "domain/values/snapshot.h"
#include "live/session/device_intent.h"
#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "serving/gateway_wire/gateway_wire.h"
#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kEpochUs = 1'000'000 * kMicrosPerSecond;

class FakeProcessHands final : public ProcessHands {
 public:
  void start(const ProcessOrder& order) override { started.push_back(order); }
  void stop(const std::string& slice, std::uint64_t generation) override {
    stopped.push_back(slice);
    ProcessReport report;
    report.order.slice = slice;
    report.order.generation = generation;
    report.phase = ProcessPhase::kStopped;
    reports.push_back(report);
  }
  [[nodiscard]] std::vector<ProcessReport> take_reports() override { return std::exchange(reports, {}); }
  [[nodiscard]] bool knows_all() const override { return true; }
  [[nodiscard]] std::optional<std::string> why_gone() const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::string> read_log(const std::string&, std::uint64_t, std::size_t) override {
    return "a line\n";
  }

  std::vector<ProcessOrder> started;
  std::vector<std::string> stopped;
  std::vector<ProcessReport> reports;
};

/// A service with a program on one A100, whose slices devices outside create at once.
class LocalProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ServiceSpec service = sim::testing::service_of("s", {{.profile = "1g.10gb"}},
                                                   sim::testing::generated(Generator::Kind::kPoisson, Decimal(5), 600));
    service.tenant = "t";
    service.name = "s";
    service.running.program =
        ProgramChoice{.template_name = "serve", .parameters = {{"repository", "r"}, {"model", "m"}}};
    Scenario scenario = sim::testing::scenario_of({service}, {}, 1);
    scenario.layout.reset();
    SessionOptions options;
    options.has_outside_devices = true;
    options.has_load = false;
    options.measures_load = true;
    options.first_layout_takes_time = true;
    options.listener.next_intent = [this] { return ++last_intent_; };
    options.listener.boot = [] { return std::optional<std::string>("boot"); };
    session_ = std::move(*Session::make(std::move(scenario), std::move(options)));
    session_->begin();
    LocalProgramsOptions made{.epoch_us = kEpochUs, .measures_load = true};
    made.uuid_of = [](const Slice&) { return std::optional<std::string>("MIG-1"); };
    made.write_device = [this](const std::string& name, const std::string& text) -> std::optional<std::string> {
      files_[name] = text;
      return std::nullopt;
    };
    programs_ = std::make_unique<LocalPrograms>(hands_, std::move(made));
  }
  void pass(std::int64_t seconds = 1) {
    const Instant until = Instant::at_second(session_->now().second() + seconds);
    do {
      for (const DeviceIntent& intent : session_->take_device_intents()) {
        session_->end_device_intent(intent, {.intent = intent.number, .outcome = kDoneOutcome});
      }
      programs_->serve(*session_);
    } while (session_->advance(until));
  }
  void make_ready() {
    for (const ProcessOrder& order : std::exchange(hands_.started, {})) {
      ProcessReport report;
      report.order = order;
      report.phase = ProcessPhase::kReady;
      report.port = 5000;
      report.starts = 1;
      report.start_time = Micros::seconds(2);
      hands_.reports.push_back(report);
    }
    pass();
  }
  [[nodiscard]] std::int64_t ready_count() const {
    return std::ranges::count_if(session_->snapshot().slices, &StandingSlice::is_ready);
  }

  std::uint64_t last_intent_ = 0;
  std::map<std::string, std::string> files_;
  FakeProcessHands hands_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<LocalPrograms> programs_;
};

TEST_F(LocalProgramsTest, AServiceServesWithItsProgram) {
  pass(3);
  ASSERT_FALSE(hands_.started.empty());
  EXPECT_EQ(ready_count(), 0);
  const ProcessOrder order = hands_.started.front();
  EXPECT_EQ(order.device_uuid, "MIG-1");
  EXPECT_EQ(order.template_name, "serve");
  const std::string& file = files_.begin()->second;
  EXPECT_THAT(file, HasSubstr("load: {seconds: 5.000000"));
  EXPECT_EQ(files_.begin()->first, order.slice + "-" + std::to_string(order.generation));
  make_ready();
  EXPECT_GT(ready_count(), 0);
  const ServicePrograms shown = programs_->programs_of("t", "s");
  ASSERT_FALSE(shown.endpoints.empty());
  EXPECT_EQ(shown.endpoints.front().url, "http://127.0.0.1:5000");
  EXPECT_FALSE(shown.endpoints.front().latencies.empty());
  EXPECT_EQ(programs_->read_log(order.slice, order.generation, 100), "a line\n");
}

TEST_F(LocalProgramsTest, AGatewayFollowsTablesAndItsRecordsAreTheLoad) {
  std::string sent;
  programs_->follow([&](std::string_view line) {
    sent += line;
    return true;
  });
  pass(2);
  make_ready();
  const std::string last = sent.substr(sent.rfind('\n', sent.size() - 2) + 1);
  const auto table = serving::read_endpoint_table(last.empty() ? sent : last, "line");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_THAT(table->services, SizeIs(1));
  EXPECT_EQ(table->number, programs_->table().number);
  RequestReport report{.gateway = "g", .table = table->number, .records = {}};
  report.records.push_back({.number = 1,
                            .tenant = "t",
                            .service = "s",
                            .second = kEpochUs / kMicrosPerSecond + session_->now().second() - 1,
                            .arrivals = 7,
                            .in_time = 7});
  EXPECT_EQ(programs_->take_report(report), 0U);
  pass(2);
  const auto& seconds = session_->snapshot().services[0].seconds;
  ASSERT_FALSE(seconds.empty());
  EXPECT_EQ(seconds.back().arrivals, 7);
  session_->set_recorded();
  pass();
  report.records.clear();
  EXPECT_EQ(programs_->take_report(report), 1U) << "they are stored";
}

TEST_F(LocalProgramsTest, ADrainedGpuLosesItsSlicesAfterTheirPrograms) {
  pass(2);
  make_ready();
  ASSERT_GT(ready_count(), 0);
  EXPECT_TRUE(session_->schedule({0}, GpuScheduling::kDraining, "a test"));
  pass(120);
  EXPECT_FALSE(hands_.stopped.empty());
  EXPECT_THAT(session_->snapshot().slices, IsEmpty());
  EXPECT_TRUE(programs_->programs_of("t", "s").endpoints.empty());
}

TEST_F(LocalProgramsTest, StartsAreMeasured) {
  pass(2);
  make_ready();
  const MeasuredTimes times = session_->device_times();
  const auto measured = times.find({.model = "t/s", .profile = "start", .action = ActionKind::kCreation});
  ASSERT_NE(measured, times.end());
  EXPECT_EQ(measured->second.median, Micros::seconds(2));
}

}  // namespace
}  // namespace berth::live
