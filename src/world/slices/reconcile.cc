#include "world/slices/reconcile.h"

#include <algorithm>
#include <tuple>
#include <variant>

#include "base/core/overloaded.h"

namespace berth::world {
namespace {

constexpr const char* kUnseen = "it ended while nobody watched";

/// One GPU, as the engine and the device know it.
class GpuNews {
 public:
  GpuNews(const Snapshot& engine, GpuId gpu, const DeviceMemory& device, const std::set<Slice>& to_destroy, Instant now)
      : engine_(engine), gpu_(gpu), device_(device), to_destroy_(to_destroy), now_(now) {}

  void why_lost(const std::string& reason) { loss_ = reason; }

  void find(std::vector<Event>& events) {
    const bool is_lost = engine_.gpu_state(gpu_).health == GpuHealth::kLost;
    if (device_.is_lost) {
      if (!is_lost) events.push_back({.at = now_, .what = GpuLost{.gpu = gpu_, .reason = loss_}});
      return;
    }
    if (is_lost) events.push_back({.at = now_, .what = GpuReturned{gpu_}});
    if (!is_lost) {
      for (const StandingSlice& standing : engine_.slices_on(gpu_)) compare(standing, events);
    }
    has_difference_ = has_difference_ || has_unknown(is_lost);
    if (has_difference_) events.push_back({.at = now_, .what = seen()});
  }

 private:
  [[nodiscard]] const SliceMemory* find_seen(const StandingSlice& standing) const {
    const auto it = std::ranges::find_if(device_.slices, [&](const SliceMemory& slice) {
      return slice.slice == standing.holding.slice && slice.created_as == standing.generation &&
             slice.is_foreign == standing.is_foreign;
    });
    return it == device_.slices.end() ? nullptr : &*it;
  }

  void compare(const StandingSlice& standing, std::vector<Event>& events) {
    const SliceMemory* seen = find_seen(standing);
    const Slice& slice = standing.holding.slice;
    if (seen == nullptr) {
      if (standing.generation > device_.known_number) return;  // still to be created
      if (standing.is_leaving) {
        events.push_back({.at = now_, .what = SliceGone{.slice = slice, .generation = standing.generation}});
      } else {
        if (!standing.is_ready) fail(ActionKind::kCreation, standing, events);
        has_difference_ = true;
      }
      return;
    }
    if (standing.is_foreign) return;
    if (standing.is_leaving) {
      if (!seen->is_unwanted && !to_destroy_.contains(slice)) fail(ActionKind::kDestruction, standing, events);
      return;
    }
    if (standing.is_ready || standing.assignment > device_.known_number) return;
    const bool is_unowned = seen->services.empty() && !seen->next;
    const bool was_reported_failed = is_unowned && !standing.holding.services.empty();
    const bool was_passed_over = seen->assigned_as < standing.assignment;  // it still has its previous holder
    if (was_reported_failed || was_passed_over) {
      fail(ActionKind::kCreation, standing, events);
    } else if (seen->phase == SlicePhase::kUp && seen->assigned_as == standing.assignment) {
      events.push_back({.at = now_, .what = SliceReady{.slice = slice, .assignment = standing.assignment}});
    }
  }

  void fail(ActionKind kind, const StandingSlice& standing, std::vector<Event>& events) {
    has_difference_ = true;
    events.push_back({.at = now_,
                      .what = ActionFailed{.kind = kind,
                                           .slice = standing.holding.slice,
                                           .generation = standing.generation,
                                           .assignment = standing.assignment,
                                           .message = kUnseen}});
  }

  /// Whether a slice exists there that the engine does not know.
  [[nodiscard]] bool has_unknown(bool knows_nothing) const {
    return std::ranges::any_of(device_.slices, [&](const SliceMemory& slice) {
      if (knows_nothing) return true;
      return std::ranges::none_of(engine_.slices_on(gpu_), [&](const StandingSlice& standing) {
        return standing.holding.slice == slice.slice && standing.generation == slice.created_as &&
               standing.is_foreign == slice.is_foreign;
      });
    });
  }

  [[nodiscard]] GpuObserved seen() const {
    GpuObserved observed{.gpu = gpu_, .known_number = device_.known_number, .slices = {}};
    for (const SliceMemory& slice : device_.slices) {
      const bool is_pending = slice.phase == SlicePhase::kCreating || slice.phase == SlicePhase::kWaitingForRoom;
      observed.slices.push_back({.slice = slice.slice,
                                 .generation = slice.created_as,
                                 .is_foreign = slice.is_foreign,
                                 .is_pending = is_pending,
                                 .is_leaving = slice.is_unwanted});
    }
    std::ranges::sort(observed.slices, {}, [](const SeenSlice& each) { return std::tie(each.slice, each.generation); });
    return observed;
  }

  const Snapshot& engine_;
  GpuId gpu_;
  const DeviceMemory& device_;
  const std::set<Slice>& to_destroy_;
  Instant now_;
  std::string loss_ = kSimulatedLoss;
  bool has_difference_ = false;
};

}  // namespace

std::vector<Event> find_device_news(const Snapshot& engine, const std::vector<DeviceMemory>& devices,
                                    const std::set<Slice>& to_destroy, const std::map<GpuId, std::string>& losses,
                                    Instant now) {
  std::vector<Event> events;
  for (std::uint32_t gpu = 0; gpu < devices.size(); ++gpu) {
    GpuNews news(engine, {gpu}, devices[gpu], to_destroy, now);
    if (const auto loss = losses.find({gpu}); loss != losses.end()) news.why_lost(loss->second);
    news.find(events);
  }
  return events;
}

void forget_passed(const std::vector<std::uint64_t>& last_numbers, const std::vector<const Plan*>& left,
                   std::vector<DeviceMemory>& devices) {
  std::vector<std::uint64_t> passed = last_numbers;
  for (const Plan* plan : left) {
    for (const Action& action : plan->actions) {
      std::uint64_t& number = passed[slice_of(action.what).gpu.index];
      number = std::min(number, action.number - 1);
    }
  }
  for (std::size_t gpu = 0; gpu < passed.size(); ++gpu) {
    devices[gpu].known_number = std::max(devices[gpu].known_number, passed[gpu]);
  }
}

std::vector<std::set<Slice>> staying_slices(const std::vector<DeviceMemory>& devices) {
  std::vector<std::set<Slice>> staying(devices.size());
  for (std::size_t gpu = 0; gpu < devices.size(); ++gpu) {
    for (const SliceMemory& slice : devices[gpu].slices) {
      if (!slice.is_unwanted && !slice.is_foreign) staying[gpu].insert(slice.slice);
    }
  }
  return staying;
}

void drop_impossible(std::vector<std::set<Slice>>& staying, std::vector<DeviceMemory>& devices, Plan& plan) {
  std::set<GpuId> impossible;
  for (const Action& action : plan.actions) {
    const Slice& slice = slice_of(action.what);
    if (devices[slice.gpu.index].is_lost) continue;  // the world skips them
    std::set<Slice>& there = staying[slice.gpu.index];
    const bool is_possible = std::visit(Overloaded{
                                            [&](const CreateSlice&) { return there.insert(slice).second; },
                                            [&](const DestroySlice&) { return there.erase(slice) > 0; },
                                            [&](const AssignSlice&) { return there.contains(slice); },
                                        },
                                        action.what);
    if (!is_possible) impossible.insert(slice.gpu);
  }
  for (const Action& action : plan.actions) {
    const GpuId gpu = slice_of(action.what).gpu;
    if (!impossible.contains(gpu)) continue;
    std::uint64_t& known = devices[gpu.index].known_number;
    known = std::max(known, action.number);
  }
  std::erase_if(plan.actions, [&](const Action& action) { return impossible.contains(slice_of(action.what).gpu); });
  for (const GpuId gpu : impossible) staying[gpu.index] = staying_slices({devices[gpu.index]}).front();
}

std::size_t disown_unknown(const std::vector<std::uint64_t>& last_numbers, std::vector<DeviceMemory>& devices) {
  std::size_t count = 0;
  for (std::size_t gpu = 0; gpu < devices.size(); ++gpu) {
    const std::uint64_t last = gpu < last_numbers.size() ? last_numbers[gpu] : 0;
    if (devices[gpu].known_number <= last) continue;
    devices[gpu].known_number = last;
    for (SliceMemory& slice : devices[gpu].slices) {
      if (slice.is_foreign || std::max(slice.created_as, slice.assigned_as) <= last) continue;
      slice = {
          .slice = slice.slice, .phase = SlicePhase::kUp, .services = {}, .is_foreign = true, .order = slice.order};
      ++count;
    }
  }
  return count;
}

}  // namespace berth::world
