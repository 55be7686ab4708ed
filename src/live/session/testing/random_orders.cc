#include "live/session/testing/random_orders.h"

#include <array>
#include <string>

#include "sim/world/testing/scenarios.h"

namespace berth::live::testing {
namespace {

using sim::testing::a100;
using sim::testing::generated;
using sim::testing::Row;
using sim::testing::service_of;
using sim::testing::slice_at;

Retraining random_retraining(Rng& rng) {
  Retraining retraining;
  retraining.every = Micros::seconds(40);
  retraining.offset = Micros::seconds(drawn(rng, 30));
  retraining.time_on = {{1, Micros::seconds(12)}, {2, Micros::seconds(8)}, {3, Micros::seconds(5)}};
  return retraining;
}

std::vector<Row> random_rows(Rng& rng) {
  // Some batches take seconds, so they outlive their service.
  const std::int64_t latency_ms = rng.below(5) == 0 ? 2000 + drawn(rng, 20'000) : 5 + drawn(rng, 40);
  std::vector<Row> rows{{.latency_ms = latency_ms}};
  if (rng.below(2) == 0) rows.push_back({.profile = "2g.20gb", .batch = 2, .latency_ms = latency_ms});
  if (rng.below(3) == 0) rows.push_back({.profile = "3g.40gb", .batch = 4, .latency_ms = latency_ms});
  if (rng.below(5) == 0) rows = {{.profile = "7g.80gb", .batch = 8, .latency_ms = latency_ms}};
  return rows;
}

std::vector<Variant> random_variants(Rng& rng) {
  std::vector<Variant> variants(rng.below(3) == 0 ? 1 + rng.below(2) : 0);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    variants[i].name = "v" + std::to_string(i);
    variants[i].table = sim::testing::table_of(random_rows(rng));
    const std::int64_t accuracy = 500'000 + drawn(rng, 400'000);
    variants[i].accuracy = {.before_micro = accuracy, .after_micro = accuracy};
  }
  return variants;
}

std::vector<Pin> random_pins(Rng& rng, std::uint32_t gpu_count) {
  if (rng.below(6) != 0) return {};
  const auto gpu = static_cast<std::uint32_t>(rng.below(gpu_count));
  return {{.slice = slice_at(gpu, "1g.10gb", static_cast<int>(rng.below(7)))}};
}

}  // namespace

std::int64_t drawn(Rng& rng, std::uint64_t bound) { return static_cast<std::int64_t>(rng.below(bound)); }

ServiceSpec random_service(Rng& rng, std::uint32_t gpu_count) {
  // Some get so many requests that `fidelity: rates` serves them by rates, and return to few.
  const std::int64_t rate = rng.below(4) == 0 ? 1500 : drawn(rng, 120);
  ServiceSpec spec = service_of("", random_rows(rng), generated(Generator::Kind::kPoisson, Decimal(rate), 60));
  spec.arrivals.repeat = true;
  if (rng.below(3) == 0) {
    spec.target_ms = Decimal(30'000);
    spec.target = Micros::seconds(30);
  }
  spec.start = Micros::seconds(drawn(rng, 8));
  if (rng.below(4) == 0) spec.expects = Decimal(1 + drawn(rng, 300));
  if (rng.below(5) == 0) spec.isolation = Isolation::kGpu;
  if (rng.below(6) == 0) spec.trust_domain = rng.below(2) == 0 ? "red" : "blue";
  if (rng.below(4) == 0) spec.drop = DropRule::kNever;
  if (rng.below(4) == 0) spec.weight = Decimal(1 + drawn(rng, 5));
  spec.variants = random_variants(rng);
  spec.pins = random_pins(rng, gpu_count);
  if (rng.below(5) == 0) spec.changes_per_hour = drawn(rng, 20);
  if (rng.below(5) == 0) spec.floor_attainment = Decimal(1, 2);
  if (rng.below(5) == 0) spec.agreed.attainment = Decimal(999, 1000);
  if (rng.below(4) == 0) {
    spec.retraining = random_retraining(rng);
    spec.accuracy = {.before_micro = 600'000, .after_micro = 900'000};
  }
  return spec;
}

std::vector<FrozenWindow> random_windows(Rng& rng, std::int64_t until_second) {
  std::vector<FrozenWindow> windows;
  for (std::int64_t from = 5 + drawn(rng, 40); from < until_second; from += 20 + drawn(rng, 60)) {
    windows.push_back({.from = Instant::at_second(from), .until = Instant::at_second(from + 3 + drawn(rng, 15))});
  }
  return windows;
}

NoChanges random_no_changes(Rng& rng, Instant now) {
  constexpr int kMinute = 5000;
  if (rng.below(3) == 0) return {};
  const Micros begins_in = Micros(drawn(rng, 80'000'000) - 60'000'000);
  return {.week_at_start = Micros::seconds(std::int64_t{kMinute} * 60) - (now - Instant()) - begins_in,
          .spans = {{.from_minute = kMinute, .until_minute = kMinute + 1}}};
}

sim::FaultOrder random_fault(Rng& rng, std::uint32_t gpu_count) {
  constexpr std::array kKinds = {
      sim::FaultKind::kLose,           sim::FaultKind::kReturn,       sim::FaultKind::kReturn,
      sim::FaultKind::kFailCreate,     sim::FaultKind::kFailDestroy,  sim::FaultKind::kSlow,
      sim::FaultKind::kReportsFailure, sim::FaultKind::kForeignSlice, sim::FaultKind::kClear};
  sim::FaultOrder order;
  order.kind = kKinds[rng.below(kKinds.size())];
  const auto first = static_cast<std::uint32_t>(rng.below(gpu_count));
  const auto last = first + static_cast<std::uint32_t>(rng.below(gpu_count - first));
  for (std::uint32_t gpu = first; gpu <= last; ++gpu) order.gpus.push_back({gpu});
  const bool counts_actions = order.kind != sim::FaultKind::kLose && order.kind != sim::FaultKind::kReturn &&
                              order.kind != sim::FaultKind::kForeignSlice && order.kind != sim::FaultKind::kClear;
  if (counts_actions && (order.kind != sim::FaultKind::kSlow || rng.below(2) == 0)) order.times = 1 + drawn(rng, 3);
  if (order.kind == sim::FaultKind::kSlow) order.duration = Micros::seconds(1 + drawn(rng, 90));
  if (order.kind != sim::FaultKind::kForeignSlice) return order;
  const auto profile = static_cast<std::uint16_t>(rng.below(a100().profiles.size()));
  const std::vector<int>& starts = a100().profiles[profile].starts;
  order.profile = {profile};
  order.start = starts[rng.below(starts.size())];
  return order;
}

}  // namespace berth::live::testing
