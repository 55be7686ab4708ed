#include "sim/world/recorded.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/core/overloaded.h"
#include "sim/world/world.h"
#include "world/slices/reconcile.h"

namespace berth::sim {
namespace {

Instant moved(Instant at, Micros by) { return at == Instant::never() ? at : at - by; }

/// One repetition.
class Recorded {
 public:
  Recorded(const Scenario& scenario, const RecordedRun& run, const RecordedOptions& options)
      : scenario_(scenario),
        run_(run),
        options_(options),
        world_(std::make_unique<World>(scenario, options.seed, options.world, options.journal)) {}

  Result<std::unique_ptr<World>> repeat(Instant until) {
    until = std::min(until, world_->end());
    if (run_.left) resume(*run_.left);
    for (const RecordedOrder& order : run_.orders) {
      if (order.at >= until) break;
      if (!go_to(order.at, until)) return fail(ErrorCode::kInterrupted, "interrupted");
      carry_out(order);
    }
    if (!go_to(until, until)) return fail(ErrorCode::kInterrupted, "interrupted");
    return std::move(world_);
  }

 private:
  /// Retrainings, arrivals and the way of serving start as in a new world, unless the devices remember more.
  void resume(WorldLeft left) {
    if (options_.journal) report_standing(left);
    std::vector<ServiceMemory> services = world_->memory().services;
    for (std::size_t index = 0; index < services.size() && index < left.world.services.size(); ++index) {
      const ServiceMemory& known = left.world.services[index];
      services[index].is_by_rates = known.is_by_rates;
      if (known.retraining) services[index].retraining = known.retraining;
    }
    left.world.services = std::move(services);
    const std::vector<std::uint64_t> revisions(scenario_.services.size());
    world_->resume(left.world, left.devices, revisions);
  }

  void report_standing(const WorldLeft& left) const {
    for (const world::DeviceMemory& device : left.devices) {
      for (const world::SliceMemory& slice : device.slices) {
        if (slice.is_foreign || slice.phase <= world::SlicePhase::kCreating) continue;
        world::SliceRecord record{.at = Instant(),
                                  .event = world::SliceEvent::kCreated,
                                  .slice = slice.slice,
                                  .role = slice.role,
                                  .services = slice.services,
                                  .generation = slice.created_as};
        options_.journal(record);
        if (slice.point)
          options_.journal(world::PointRecord{.at = Instant(), .slice = slice.slice, .point = slice.point});
        record.event = world::SliceEvent::kServing;
        if (slice.phase == world::SlicePhase::kUp && !slice.services.empty()) options_.journal(record);
      }
    }
  }

  /// Returns false if it was stopped.
  bool go_to(Instant at, Instant until) {
    while (now_ < at) {
      now_ = world_->advance(std::min(at, Instant::at_second(now_.second() + 1)));
      static_cast<void>(world_->take_events());
      if (!options_.progress || now_.second() == shown_second_) continue;
      shown_second_ = now_.second();
      if (!options_.progress(static_cast<double>(now_.micros()) / static_cast<double>(until.micros()))) return false;
    }
    return true;
  }

  void carry_out(const RecordedOrder& order) {
    std::visit(Overloaded{
                   [&](const PlanOrder& given) { act(given); },
                   [&](const FaultInjection& injected) { inject(injected); },
                   [&](const ServiceSet& set) { set_service(set); },
                   [&](const GpuLost& lost) { world_->lose_gpu(lost.gpu, now_); },
                   [&](const GpuReturned& returned) { world_->return_gpu(returned.gpu, now_); },
                   [&](const SliceGone& gone) { destroy(gone); },
               },
               order.what);
    static_cast<void>(world_->take_events());
  }

  void act(const PlanOrder& given) {
    Plan plan = given.plan;
    std::set<GpuId> gpus;
    for (const Action& action : plan.actions) gpus.insert(slice_of(action.what).gpu);
    std::vector<world::DeviceMemory> devices(scenario_.gpu_count());
    for (const GpuId gpu : gpus) devices[gpu.index] = world_->memory_of(gpu);
    std::vector<std::set<Slice>> standing = world::staying_slices(devices);
    world::drop_impossible(standing, devices, plan);
    world_->act(plan, now_, given.is_first_layout);
  }

  /// GPUs that are lost or back have orders of their own.
  void inject(const FaultInjection& injected) {
    const FaultKind kind = injected.fault.kind;
    if (kind == FaultKind::kLose || kind == FaultKind::kReturn) return;
    if (world_->admit(injected.fault)) world_->inject(injected.id, injected.fault, now_);
  }

  void set_service(ServiceSet set) {
    const ServiceSpec& own = scenario_.services[set.service.index];
    ServiceSpec spec = *set.spec;
    spec.name = own.name;
    spec.tenant = own.tenant;
    spec.arrivals = own.arrivals;
    set.spec = std::make_shared<const ServiceSpec>(std::move(spec));
    set.restarts_arrivals = false;
    world_->set_service(set, now_);
  }

  void destroy(const SliceGone& gone) {
    for (const world::SliceMemory& slice : world_->memory_of(gone.slice.gpu).slices) {
      const bool stays = slice.slice == gone.slice && slice.created_as == gone.generation && !slice.is_unwanted;
      if (!stays || slice.is_foreign) continue;
      Plan plan;
      plan.actions.push_back({.what = DestroySlice{gone.slice}, .reason = {}, .number = slice.assigned_as});
      return world_->act(plan, now_, false);
    }
  }

  const Scenario& scenario_;
  const RecordedRun& run_;
  const RecordedOptions& options_;
  std::unique_ptr<World> world_;
  Instant now_;
  std::int64_t shown_second_ = -1;
};

}  // namespace

WorldLeft moved_back(WorldLeft left, Micros by) {
  left.world.now = left.world.now - by;
  for (WaitingFault& fault : left.world.faults) fault.since = fault.since - by;
  for (ServiceMemory& service : left.world.services) {
    if (!service.retraining) continue;
    RetrainingMemory& retraining = *service.retraining;
    retraining.next_due = moved(retraining.next_due, by);
    retraining.swap_at = moved(retraining.swap_at, by);
    if (retraining.running_since) retraining.running_since = moved(*retraining.running_since, by);
  }
  for (world::DeviceMemory& device : left.devices) {
    for (world::SliceMemory& slice : device.slices) slice.continues_at = moved(slice.continues_at, by);
  }
  return left;
}

Result<std::unique_ptr<World>> repeat_recorded(const Scenario& scenario, const RecordedRun& run, Instant until,
                                               const RecordedOptions& options) {
  return Recorded(scenario, run, options).repeat(until);
}

WorldLeft left_of(const World& world, const Scenario& scenario) {
  WorldLeft left{.world = world.memory(), .devices = {}};
  for (std::uint32_t gpu = 0; gpu < scenario.gpu_count(); ++gpu) left.devices.push_back(world.memory_of({gpu}));
  return left;
}

}  // namespace berth::sim
