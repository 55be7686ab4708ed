// Batches that take another time than their table says: the fault, what is measured of it, and what counts on it.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/world/loop.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world.h"

namespace berth::sim {
namespace {

using testing::generated;
using testing::holding_of;
using testing::scenario_of;
using testing::service_of;
using testing::slice_at;

/// Two services, each on a slice of its own, with `per_second` requests.
Scenario services_to_slow(std::int64_t per_second = 50) {
  const auto arrivals = [&] { return generated(Generator::Kind::kPoisson, Decimal(per_second), 600); };
  return scenario_of({service_of("a", {{.profile = "1g.10gb", .batch = 1, .latency_ms = 10}}, arrivals()),
                      service_of("b", {{.profile = "2g.20gb", .batch = 1, .latency_ms = 10}}, arrivals())},
                     {holding_of(slice_at(0, "1g.10gb", 0), {0}), holding_of(slice_at(0, "2g.20gb", 2), {1})});
}

FaultOrder serving(std::uint32_t service, const Decimal& factor, const Decimal& jitter) {
  FaultOrder order;
  order.kind = FaultKind::kServing;
  order.serving = ServingFault{.service = ServiceId{service}, .factor = factor, .jitter = jitter};
  return order;
}

/// Ends the faults of these GPUs and, if stated, those of serving: of one service, or of all.
FaultOrder clear(std::vector<GpuId> gpus, std::optional<ServingFault> of) {
  FaultOrder order;
  order.kind = FaultKind::kClear;
  order.gpus = std::move(gpus);
  order.serving = std::move(of);
  return order;
}

struct MeasuredSum {
  std::int64_t batches = 0;
  std::int64_t table_us = 0;
  std::int64_t real_us = 0;
  [[nodiscard]] double ratio() const { return static_cast<double>(real_us) / static_cast<double>(table_us); }
};

class ServingFaults : public ::testing::Test {
 protected:
  void make(const Scenario& scenario, std::uint64_t seed = 1) {
    LoopOptions options;
    options.seed = seed;
    options.world.batches_measured = [this](const std::vector<BatchTimes>& measured) {
      for (const BatchTimes& times : measured) {
        MeasuredSum& sum = sums_[times.place.service.index];
        sum.batches += times.batches;
        sum.table_us += times.table_us;
        sum.real_us += times.real_us;
      }
    };
    options.listener.journal = [this](const JournalRecord& record) { journal_.push_back(record); };
    loop_ = std::make_unique<Loop>(scenario, testing::fixed_stages, options);
    loop_->begin();
  }
  void advance_to(std::int64_t second) {
    while (!loop_->is_over() && loop_->now() < Instant::at_second(second)) loop_->advance();
  }
  void inject(const FaultOrder& order) {
    const auto id = loop_->admit(order);
    ASSERT_TRUE(id.has_value());
    loop_->inject(*id, order);
  }

  std::map<std::uint32_t, MeasuredSum> sums_;
  std::vector<JournalRecord> journal_;
  std::unique_ptr<Loop> loop_;
};

TEST_F(ServingFaults, WithoutOneBatchesTakeTheTablesTime) {
  make(services_to_slow());
  advance_to(100);
  EXPECT_GT(sums_[0].batches, 4'000);
  EXPECT_EQ(sums_[0].real_us, sums_[0].table_us);
  EXPECT_EQ(sums_[1].real_us, sums_[1].table_us);
}

TEST_F(ServingFaults, OneServiceTakesLongerUntilItIsCleared) {
  make(services_to_slow());
  advance_to(10);
  inject(serving(0, Decimal(13, 10), Decimal(2, 10)));
  EXPECT_EQ(loop_->world().faults().waiting().size(), 1U);
  advance_to(12);
  sums_.clear();
  advance_to(200);
  EXPECT_NEAR(sums_[0].ratio(), 1.3, 0.01);
  EXPECT_EQ(sums_[1].real_us, sums_[1].table_us);
  inject(clear({}, ServingFault{.service = ServiceId{0}, .factor = Decimal(1), .jitter = Decimal()}));
  EXPECT_TRUE(loop_->world().faults().is_empty());
  advance_to(202);
  sums_.clear();
  advance_to(300);
  EXPECT_EQ(sums_[0].real_us, sums_[0].table_us);
}

TEST_F(ServingFaults, AClearOfGpusLeavesIt) {
  make(services_to_slow());
  inject(serving(1, Decimal(2), Decimal(0)));
  inject(clear({{0}}, std::nullopt));
  EXPECT_EQ(loop_->world().faults().waiting().size(), 1U);
  inject(clear({{0}}, ServingFault()));
  EXPECT_TRUE(loop_->world().faults().is_empty());
}

TEST_F(ServingFaults, TheLatestOneCounts) {
  make(services_to_slow());
  inject(serving(0, Decimal(2), Decimal(0)));
  inject(serving(0, Decimal(3, 2), Decimal(0)));
  advance_to(100);
  EXPECT_NEAR(sums_[0].ratio(), 1.5, 0.001);
}

TEST_F(ServingFaults, DrawsDependOnNothingElse) {
  std::vector<std::string> texts;
  for (const bool has_other : {false, true}) {
    sums_.clear();
    journal_.clear();
    make(services_to_slow());
    inject(serving(0, Decimal(13, 10), Decimal(5, 10)));
    if (has_other) inject(serving(1, Decimal(12, 10), Decimal(5, 10)));
    advance_to(60);
    std::string text;
    for (const JournalRecord& record : journal_) {
      const auto* second = std::get_if<SecondRecord>(&record);
      if (second != nullptr && second->service == ServiceId{0}) text += testing::shown(record) + "\n";
    }
    texts.push_back(text);
  }
  EXPECT_FALSE(texts[0].empty());
  EXPECT_EQ(texts[0], texts[1]);
}

/// Near capacity a service that does not know that its batches are slow answers late what it could have dropped.
TEST_F(ServingFaults, DropsCountOnTheFactorInForceNotOnTheTruth) {
  const auto late_share = [&](bool is_known) {
    journal_.clear();
    make(services_to_slow(90));
    inject(serving(0, Decimal(2), Decimal(0)));
    if (is_known) {
      loop_->command({.at = loop_->now(),
                      .what = SpeedMeasured{.place = {.service = {0}, .gpu = "A100-80GB", .profile = "1g.10gb"},
                                            .factor = Decimal(2),
                                            .batches = 200}});
    }
    advance_to(200);
    const testing::Recount count = testing::recount(journal_, services_to_slow());
    return static_cast<double>(count.services[0].late) / static_cast<double>(count.services[0].requests);
  };
  EXPECT_GT(late_share(false), 0.2);
  EXPECT_EQ(late_share(true), 0);
}

TEST_F(ServingFaults, EndsWithItsService) {
  make(services_to_slow());
  inject(serving(0, Decimal(2), Decimal(0)));
  loop_->remove_service({0});
  loop_->step_for_services();
  EXPECT_TRUE(loop_->world().faults().is_empty());
}

}  // namespace
}  // namespace berth::sim
