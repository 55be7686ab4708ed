#include "live/programs/program_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "domain/values/serve_template.h"

namespace berth::live {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The hands and the world of one service of two possible slices.
class Programs : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kFirstTable = 100;

  static WantedProgram wanted(int number, bool is_ready = false, bool is_leaving = false, bool exists = true) {
    WantedProgram program;
    program.on = {.slice = {.gpu = {static_cast<std::uint32_t>(number)}, .start = 0, .profile = {0}},
                  .generation = static_cast<std::uint64_t>(number),
                  .service = {0},
                  .exists = exists,
                  .is_leaving = is_leaving,
                  .is_ready = is_ready};
    program.order.slice = "slice-" + std::to_string(number);
    program.order.generation = static_cast<std::uint64_t>(number);
    program.order.tenant = "vision";
    program.service = "digits";
    if (is_leaving || !exists) return program;
    program.order.template_name = std::string(kServeTemplate);
    program.order.parameters = {{"repository", "demo"}, {"model", "digits"}};
    program.order.device_uuid = "MIG-" + std::to_string(number);
    program.is_startable = true;
    return program;
  }
  static ProcessReport report(int number, ProcessPhase phase) {
    ProcessReport report;
    report.order = wanted(number).order;
    report.phase = phase;
    report.pid = 1000 + number;
    report.port = 5000 + number;
    report.starts = 1;
    report.drain = Micros::seconds(30);
    report.in_flight_max = 4;
    return report;
  }
  ProgramOrders step(std::vector<WantedProgram> programs) {
    sight_.wanted = std::move(programs);
    sight_.services = {{.tenant = "vision", .name = "digits", .target = Micros(50'000), .answer = Micros::seconds(30)}};
    return book_.step(sight_);
  }
  /// The program runs on the slice, ready and in the table.
  void run(int number) {
    book_.note({}, true);
    static_cast<void>(step({wanted(number)}));
    book_.note({report(number, ProcessPhase::kReady)}, false);
    static_cast<void>(step({wanted(number, true)}));
  }
  std::vector<std::string> in_table(bool leaving) const {
    std::vector<std::string> slices;
    for (const ServiceEndpoints& service : book_.table().services) {
      for (const Endpoint& each : service.replicas) {
        if (each.is_leaving == leaving) slices.push_back(each.slice);
      }
    }
    return slices;
  }

  ProgramSight sight_;
  ProgramBook book_{kFirstTable};
};

TEST_F(Programs, NothingIsStartedBeforeTheHandsHaveListedAll) {
  EXPECT_THAT(step({wanted(1)}).starts, IsEmpty());
  book_.note({}, true);
  EXPECT_THAT(step({wanted(1)}).starts, ElementsAre(wanted(1).order));
  EXPECT_THAT(step({wanted(1)}).starts, IsEmpty()) << "once";
}

TEST_F(Programs, OneThatRunsIsAdopted) {
  book_.note({report(1, ProcessPhase::kReady)}, true);
  const ProgramOrders orders = step({wanted(1)});
  EXPECT_THAT(orders.starts, IsEmpty());
  EXPECT_THAT(orders.ready, SizeIs(1)) << "the slice waited for it";
  EXPECT_THAT(step({wanted(1, true)}).ready, IsEmpty());
  EXPECT_THAT(in_table(false), ElementsAre("slice-1"));
}

TEST_F(Programs, AServiceWithoutReplicasIsInTheTable) {
  const auto table = step({}).table;
  ASSERT_TRUE(table);
  EXPECT_EQ(table->number, kFirstTable + 1);
  EXPECT_EQ(table->services.front().answer, Micros::seconds(30));
  EXPECT_FALSE(step({}).table) << "it says the same";
}

TEST_F(Programs, AMoveOverlaps) {
  run(1);
  sight_.has_gateway = true;
  // The new slice is being created, then starts: the old one serves on.
  EXPECT_THAT(step({wanted(1, true, true), wanted(2, false, false, false)}).stops, IsEmpty());
  EXPECT_THAT(step({wanted(1, true, true), wanted(2)}).starts, SizeIs(1));
  EXPECT_THAT(in_table(false), ElementsAre("slice-1"));
  book_.note({report(2, ProcessPhase::kReady)}, false);
  EXPECT_THAT(step({wanted(1, true, true), wanted(2)}).ready, SizeIs(1));
  // In the next step the old one is leaving, and stopped once the gateway knows that.
  EXPECT_THAT(step({wanted(1, true, true), wanted(2, true)}).stops, IsEmpty());
  EXPECT_THAT(in_table(false), ElementsAre("slice-2"));
  EXPECT_THAT(in_table(true), ElementsAre("slice-1"));
  EXPECT_THAT(step({wanted(1, true, true), wanted(2, true)}).stops, IsEmpty());
  sight_.acknowledged_table = book_.table().number;
  EXPECT_THAT(step({wanted(1, true, true), wanted(2, true)}).stops, ElementsAre(std::pair("slice-1", 1U)));
  EXPECT_THAT(in_table(true), IsEmpty());
  EXPECT_THAT(step({wanted(1, true, true), wanted(2, true)}).gone, IsEmpty());
  book_.note({report(1, ProcessPhase::kStopped)}, false);
  EXPECT_THAT(step({wanted(1, true, true), wanted(2, true)}).gone, ElementsAre(wanted(1, true, true).on));
}

TEST_F(Programs, WhatFollowsMayFailTwice) {
  run(1);
  static_cast<void>(step({wanted(1, true, true), wanted(2)}));
  ProcessReport failed = report(2, ProcessPhase::kFailed);
  for (failed.failures = 1; failed.failures < 3; ++failed.failures) {
    book_.note({failed}, false);
    static_cast<void>(step({wanted(1, true, true), wanted(2)}));
    EXPECT_THAT(in_table(false), ElementsAre("slice-1"));
  }
  book_.note({failed}, false);
  static_cast<void>(step({wanted(1, true, true), wanted(2)}));
  EXPECT_THAT(in_table(true), ElementsAre("slice-1"));
}

TEST_F(Programs, WhenTheSliceThatFollowsCannotBeCreatedTheOldOneWaitsForAnother) {
  run(1);
  static_cast<void>(step({wanted(1, true, true), wanted(2, false, false, false)}));
  static_cast<void>(step({wanted(1, true, true)}));
  EXPECT_THAT(in_table(false), ElementsAre("slice-1"));
  sight_.now = Micros::seconds(20);
  static_cast<void>(step({wanted(1, true, true), wanted(3)}));
  book_.note({report(3, ProcessPhase::kReady)}, false);
  static_cast<void>(step({wanted(1, true, true), wanted(3)}));
  EXPECT_THAT(in_table(false), ElementsAre("slice-1", "slice-3"));
  static_cast<void>(step({wanted(1, true, true), wanted(3, true)}));
  EXPECT_THAT(in_table(true), ElementsAre("slice-1"));
}

TEST_F(Programs, AnOldOneWaitsForAnotherNoLongerThanTwoMinutes) {
  run(1);
  static_cast<void>(step({wanted(1, true, true), wanted(2, false, false, false)}));
  sight_.now = Micros::seconds(120);
  static_cast<void>(step({wanted(1, true, true)}));
  EXPECT_THAT(in_table(false), ElementsAre("slice-1"));
  sight_.now = Micros::seconds(121);
  static_cast<void>(step({wanted(1, true, true)}));
  EXPECT_THAT(in_table(true), ElementsAre("slice-1"));
}

TEST_F(Programs, WithoutAnotherSliceTheOldOneGoesFirst) {
  run(1);
  static_cast<void>(step({wanted(1, true, true)}));
  EXPECT_THAT(step({wanted(1, true, true)}).stops, SizeIs(1));
}

TEST_F(Programs, OthersThanServeGetTheirTimeForRequestsInFlight) {
  book_.note({}, true);
  WantedProgram other = wanted(1);
  other.order.template_name = "triton";
  static_cast<void>(step({other}));
  ProcessReport ready = report(1, ProcessPhase::kReady);
  ready.order = other.order;
  book_.note({ready}, false);
  other.on.is_ready = true;
  static_cast<void>(step({other}));
  sight_.has_gateway = true;
  static_cast<void>(step({wanted(1, true, true)}));
  sight_.acknowledged_table = book_.table().number;
  EXPECT_THAT(step({wanted(1, true, true)}).stops, IsEmpty());
  sight_.now = Micros::seconds(29);
  EXPECT_THAT(step({wanted(1, true, true)}).stops, IsEmpty());
  sight_.now = Micros::seconds(30);
  EXPECT_THAT(step({wanted(1, true, true)}).stops, SizeIs(1));
}

TEST_F(Programs, AGatewayThatDoesNotAnswerIsNotWaitedForLong) {
  run(1);
  sight_.has_gateway = true;
  static_cast<void>(step({wanted(1, true, true)}));
  sight_.now = Micros::seconds(11);
  EXPECT_THAT(step({wanted(1, true, true)}).stops, SizeIs(1));
}

TEST_F(Programs, OneThatNobodyWantsIsStopped) {
  book_.note({report(7, ProcessPhase::kStarting)}, true);
  EXPECT_THAT(step({}).stops, ElementsAre(std::pair("slice-7", 7U)));
}

TEST_F(Programs, AnotherProgramReplacesIt) {
  run(1);
  WantedProgram other = wanted(1, true);
  other.order.parameters["model"] = "letters";
  static_cast<void>(step({other}));
  EXPECT_THAT(step({other}).stops, SizeIs(1));
  book_.note({report(1, ProcessPhase::kStopped)}, false);
  EXPECT_THAT(step({other}).starts, ElementsAre(other.order));
}

TEST_F(Programs, ADeviceThatIsNotKnownStopsNothing) {
  run(1);
  WantedProgram unknown = wanted(1, true);
  unknown.is_startable = false;
  unknown.order.device_uuid.clear();
  const ProgramOrders orders = step({unknown});
  EXPECT_THAT(orders.stops, IsEmpty());
  EXPECT_THAT(in_table(false), ElementsAre("slice-1"));
}

TEST_F(Programs, FailuresAreNotedOnce) {
  run(1);
  ProcessReport failed = report(1, ProcessPhase::kFailed);
  failed.failures = 1;
  failed.message = "ended with status 1";
  book_.note({failed}, false);
  const ProgramOrders orders = step({wanted(1, true)});
  ASSERT_THAT(orders.notes, SizeIs(1));
  EXPECT_EQ(orders.notes.front().note, ProgramNote::kFailed);
  EXPECT_EQ(orders.notes.front().text, "ended with status 1");
  EXPECT_THAT(in_table(false), IsEmpty());
  EXPECT_THAT(step({wanted(1, true)}).notes, IsEmpty());
  failed.failures = 10;
  failed.is_looping = true;
  book_.note({failed}, false);
  EXPECT_THAT(step({wanted(1, true)}).notes, SizeIs(2));
  EXPECT_TRUE(book_.views().begin()->second.front().is_looping);
}

TEST_F(Programs, ARefusedOrderIsGivenAgainAndIsNoneWhenStopped) {
  book_.note({}, true);
  static_cast<void>(step({wanted(1)}));
  ProcessReport refused = report(1, ProcessPhase::kFailed);
  refused.starts = 0;
  refused.message = "no such template";
  book_.note({refused}, false);
  const ProgramOrders orders = step({wanted(1)});
  EXPECT_THAT(orders.starts, IsEmpty());
  ASSERT_THAT(orders.notes, SizeIs(1));
  EXPECT_EQ(orders.notes.front().text, "no such template");
  sight_.now = Micros::seconds(11);
  EXPECT_THAT(step({wanted(1)}).starts, SizeIs(1));
  EXPECT_THAT(step({wanted(1, false, true)}).stops, SizeIs(1));
  EXPECT_THAT(step({wanted(1, false, true)}).gone, SizeIs(1));
}

TEST_F(Programs, ThoseMissingInAWholeListAreGone) {
  run(1);
  book_.note({}, true);
  EXPECT_THAT(step({wanted(1, true)}).starts, SizeIs(1)) << "the machine was rebooted";
}

}  // namespace
}  // namespace berth::live
