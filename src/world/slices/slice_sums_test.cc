#include "world/slices/slice_sums.h"

#include <gtest/gtest.h>

#include "base/core/rng.h"
#include "world/slices/testing/scenarios.h"

namespace berth::world {
namespace {

constexpr std::size_t kSumServices = 5;

Scenario fleet() {
  std::vector<ServiceSpec> services(kSumServices);
  Scenario scenario = testing::scenario_of(std::move(services), {}, 3);
  scenario.fleet.push_back({.model = testing::a100(), .count = 2, .usd_per_gpu_hour = Decimal(1)});
  return scenario;
}

/// The model: adds everything up again at each instant, in the order of GPUs.
class Recount {
 public:
  explicit Recount(const Scenario& scenario) : held_(scenario.gpu_count()) {
    sums_.gpu_us_by_entry.resize(2);
    sums_.allocated_sm_us_by_service.resize(kSumServices);
    sums_.lost_us_by_service.resize(kSumServices);
    sums_.gpu_us_by_service.resize(kSumServices, std::vector<Decimal>(2));
  }
  void set_gpu(GpuId gpu, const HeldGpu& held) { held_[gpu.index] = held; }

  void advance(std::int64_t span_us) {
    double sms = 0;
    std::vector<double> sms_by_service(kSumServices);
    for (std::size_t gpu = 0; gpu < held_.size(); ++gpu) {
      const std::size_t entry = gpu < 3 ? 0 : 1;
      if (held_[gpu].has_slices) sums_.gpu_us_by_entry[entry] += span_us;
      std::int64_t owned_sms = 0;
      for (const HeldPart& part : held_[gpu].parts) owned_sms += part.is_first_holder ? part.sms : 0;
      sms += static_cast<double>(owned_sms + held_[gpu].foreign_sms);
      for (const HeldPart& part : held_[gpu].parts) {
        const std::size_t service = part.service.index;
        sms_by_service[service] += static_cast<double>(part.sms) / part.holder_count;
        sums_.lost_us_by_service[service] += part.is_lost ? span_us : 0;
        sums_.gpu_us_by_service[service][entry] += Decimal(part.sms, owned_sms * part.holder_count) * Decimal(span_us);
      }
    }
    const auto span = static_cast<double>(span_us);
    sums_.allocated_sm_us += sms * span;
    for (std::size_t i = 0; i < kSumServices; ++i) sums_.allocated_sm_us_by_service[i] += sms_by_service[i] * span;
  }
  [[nodiscard]] const SliceSums& sums() const { return sums_; }

 private:
  std::vector<HeldGpu> held_;
  SliceSums sums_;
};

/// A GPU with up to three slices, each with one to `holders_max` holders or none.
HeldGpu drawn(Rng& rng, std::uint64_t holders_max) {
  HeldGpu held;
  held.foreign_sms = 14 * static_cast<std::int64_t>(rng.below(3));
  held.has_slices = held.foreign_sms > 0;
  for (std::uint64_t slices = rng.below(4); slices > 0; --slices) {
    held.has_slices = true;
    const auto holders = static_cast<std::uint32_t>(rng.below(holders_max + 1));
    const auto first = static_cast<std::uint32_t>(rng.below(kSumServices - holders + 1));
    const bool is_lost = rng.below(2) == 0;
    for (std::uint32_t i = 0; i < holders; ++i) {
      held.parts.push_back({.service = {first + i},
                            .sms = 14 * static_cast<int>(slices),
                            .holder_count = static_cast<int>(holders),
                            .is_first_holder = i == 0,
                            .is_lost = is_lost});
    }
  }
  return held;
}

void expect_equal(const SliceSums& sums, const SliceSums& recount) {
  EXPECT_EQ(sums.gpu_us_by_entry, recount.gpu_us_by_entry);
  EXPECT_EQ(sums.allocated_sm_us, recount.allocated_sm_us);
  EXPECT_EQ(sums.allocated_sm_us_by_service, recount.allocated_sm_us_by_service);
  EXPECT_EQ(sums.lost_us_by_service, recount.lost_us_by_service);
  EXPECT_EQ(sums.gpu_us_by_service, recount.gpu_us_by_service);
}

void compare_with_recount(std::uint64_t holders_max) {
  const Scenario scenario = fleet();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    SliceSumsMeter meter(scenario);
    Recount recount(scenario);
    Instant now;
    for (int step = 0; step < 60; ++step) {
      for (std::uint64_t changes = rng.below(3); changes > 0; --changes) {
        const GpuId gpu{static_cast<std::uint32_t>(rng.below(5))};
        // Slices become shared in the middle of the run.
        const HeldGpu held = drawn(rng, step < 30 ? 1 : holders_max);
        meter.set_gpu(gpu, held);
        recount.set_gpu(gpu, held);
      }
      const auto span_us = static_cast<std::int64_t>(rng.below(3'000'000));
      now = now + Micros(span_us);
      meter.advance(now);
      recount.advance(span_us);
      if (step % 20 == 0) meter.settle();
    }
    meter.settle();
    expect_equal(meter.sums(), recount.sums());
  }
}

TEST(SliceSums, EqualARecountOfEachInstant) { compare_with_recount(1); }

TEST(SliceSums, EqualItToTheLastBitWhereHoldersSharePartsOfSms) { compare_with_recount(kSumServices); }

TEST(SliceSums, ChangesCountOnceAndForEachHolder) {
  const Scenario scenario = fleet();
  SliceSumsMeter meter(scenario);
  meter.count_change({ServiceId{1}, ServiceId{3}});
  meter.count_change({});
  EXPECT_EQ(meter.sums().changes, 2);
  EXPECT_EQ(meter.sums().changes_by_service, (std::vector<std::int64_t>{0, 1, 0, 1, 0}));
}

}  // namespace
}  // namespace berth::world
