#include "engine/elastic/fleet_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "domain/values/gpu.h"
#include "engine/elastic/gpu_demand.h"

namespace berth::elastic {
namespace {

/// How long fewer GPUs must be wanted before some are given back: the packed mix changes from second to second. The
/// forecast already includes the needs of the next start time.
constexpr Micros kHold = Micros::seconds(30);

class FleetSize {
 public:
  FleetSize(const Scenario& scenario, const Decimal& attainment, std::int64_t gpus_at_start)
      : scenario_(scenario), watch_(scenario, attainment, ready_seconds(scenario), gpus_at_start) {}

  void observe(const Snapshot& snapshot) { watch_.observe(snapshot); }

  StageAnswer ask(const Snapshot& snapshot, Plan& plan) {
    if (snapshot.is_before_first_layout()) return Settled{};
    const GpuDemand demand = watch_.demand();
    note(demand.gpus, snapshot.now);
    const std::vector<GpuId> rented = rented_gpus(snapshot);
    const auto count = std::ssize(rented);
    if (demand.gpus > count) {
      order(snapshot, demand.gpus - count, reason_of(demand, demand.gpus), plan);
    } else if (const std::int64_t kept = largest_want(); kept < count) {
      release(snapshot, rented, count - kept, reason_of(demand, kept), plan);
    }
    return Settled{};
  }

 private:
  struct Want {
    Instant at;
    std::int64_t gpus = 0;
  };

  /// Keeps the wants of the last kHold that are not exceeded by a later one.
  void note(std::int64_t gpus, Instant now) {
    while (!wants_.empty() && wants_.back().gpus <= gpus) wants_.pop_back();
    wants_.push_back({.at = now, .gpus = gpus});
    while (now - wants_.front().at > kHold) wants_.pop_front();
  }
  [[nodiscard]] std::int64_t largest_want() const { return wants_.front().gpus; }

  /// The GPUs that have arrived or are ordered, and were not released.
  [[nodiscard]] std::vector<GpuId> rented_gpus(const Snapshot& snapshot) const {
    std::vector<GpuId> rented;
    for (std::uint32_t gpu = 0; gpu < scenario_.gpu_count(); ++gpu) {
      const GpuScheduling scheduling = snapshot.gpu_state({gpu}).scheduling;
      if (scheduling == GpuScheduling::kOpen || scheduling == GpuScheduling::kOrdered) rented.push_back({gpu});
    }
    return rented;
  }

  void order(const Snapshot& snapshot, std::int64_t count, const Reason& reason, Plan& plan) const {
    for (std::uint32_t gpu = 0; gpu < scenario_.gpu_count() && count > 0; ++gpu) {
      if (snapshot.gpu_state({gpu}).scheduling != GpuScheduling::kAbsent) continue;
      plan.gpu_orders.push_back({.gpu = {gpu}, .is_release = false, .reason = reason});
      plan.is_ordered = true;
      --count;
    }
  }

  void release(const Snapshot& snapshot, std::vector<GpuId> rented, std::int64_t count, const Reason& reason,
               Plan& plan) const {
    const auto rank = [&](GpuId gpu) {
      const GpuState state = snapshot.gpu_state(gpu);
      const bool is_here = state.scheduling == GpuScheduling::kOpen;
      const std::int64_t age = is_here ? 0 : -state.scheduling_since.micros();
      return std::tuple(is_here, age, is_here ? held_sms(snapshot, gpu) : 0, -static_cast<std::int64_t>(gpu.index));
    };
    std::ranges::sort(rented, {}, rank);
    for (std::int64_t i = 0; i < count; ++i) {
      plan.gpu_orders.push_back({.gpu = rented[static_cast<std::size_t>(i)], .is_release = true, .reason = reason});
      plan.is_ordered = true;
    }
  }

  [[nodiscard]] int held_sms(const Snapshot& snapshot, GpuId gpu) const {
    int sms = 0;
    for (const StandingSlice& standing : snapshot.slices_on(gpu)) {
      if (standing.is_leaving || standing.holding.services.empty()) continue;
      sms += profile_sms(scenario_.model_of(gpu), standing.holding.slice.profile);
    }
    return sms;
  }

  [[nodiscard]] static Reason reason_of(const GpuDemand& demand, std::int64_t gpus) {
    return {.text = fmt::format(
                "work for {:.2f} GPUs is expected, {:.2f} with a margin that covers {:.0f}% of its errors "
                "and {:.0f}% for services that are behind: {} in whole GPUs",
                demand.forecast_gpus, demand.work_gpus, 100 * demand.quantile, 100 * demand.surcharge, gpus),
            .numbers = {{"gpus", static_cast<double>(gpus)},
                        {"forecast", demand.forecast_gpus},
                        {"quantile", demand.quantile},
                        {"margin", demand.margin_gpus},
                        {"surcharge", demand.surcharge}}};
  }

  const Scenario& scenario_;
  GpuDemandWatch watch_;
  std::deque<Want> wants_;  ///< falling, oldest first
};

}  // namespace

bool has_one_model(const Scenario& scenario) {
  return std::ranges::all_of(scenario.fleet,
                             [&](const FleetEntry& entry) { return entry.model == scenario.fleet.front().model; });
}

std::int64_t ready_seconds(const Scenario& scenario) {
  ENSURE(scenario.provision_seconds.has_value());
  Micros start;
  for (const ServiceSpec& service : scenario.services) start = std::max(start, service.start);
  const Micros change = scenario.changes.create + scenario.changes.plumbing + start;
  return *scenario.provision_seconds + (change.count() + kMicrosPerSecond - 1) / kMicrosPerSecond;
}

Stage fleet_stage(const Scenario& scenario, const Decimal& attainment, std::int64_t gpus_at_start) {
  const auto size = std::make_shared<FleetSize>(scenario, attainment, gpus_at_start);
  return {.name = "fleet",
          .observe = [size](const Snapshot& snapshot) { size->observe(snapshot); },
          .ask = [size](const Snapshot& snapshot, Plan& plan) { return size->ask(snapshot, plan); },
          .learn = {},
          .memory = {}};
}

}  // namespace berth::elastic
