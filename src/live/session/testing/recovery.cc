#include "live/session/testing/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "domain/profile/operating_point.h"
#include "live/session/event_log.h"
#include "live/session/live_figures.h"
#include "live/session/lost_slices.h"
#include "live/session/plan_log.h"
#include "live/session/service_watch.h"
#include "live/session/usage_book.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_memory.h"

namespace berth::live::testing {
namespace {

bool is_pinned(const ServiceSpec& spec, const Slice& slice) {
  return std::ranges::find(spec.pins, slice, &Pin::slice) != spec.pins.end();
}

bool can_serve(const ServiceSpec& spec, const GpuModel& model, ProfileId profile) {
  for (int variant = 0; variant <= static_cast<int>(spec.variants.size()); ++variant) {
    if (profile::choose_point(spec, model, profile, variant)) return true;
  }
  return false;
}

std::string words_of(const Slice& slice) {
  return fmt::format("the slice at {} of GPU {}, profile {}", slice.start, slice.gpu.index, slice.profile.index);
}

/// Finds neighbours that the service must not share a GPU with, of those that were set before it.
void find_forbidden_neighbours(const Session& session, const StandingSlice& standing, std::vector<std::string>& found) {
  const auto spec_of = [&](ServiceId id) -> const ServiceSpec& {
    return std::as_const(session.scenario()).services[id.index];
  };
  const ServiceId service = standing.holding.services.front();
  const std::uint64_t revision = session.snapshot().services[service.index].revision;
  for (const StandingSlice& other : session.snapshot().slices_on(standing.holding.slice.gpu)) {
    if (other.is_leaving || other.holding.services.empty()) continue;
    const ServiceId neighbour = other.holding.services.front();
    if (neighbour == service || session.snapshot().services[neighbour.index].revision > revision) continue;
    if (!may_share_gpu(spec_of(service), spec_of(neighbour))) {
      found.push_back(spec_of(service).name + " has a neighbour that it may not have");
    }
  }
}

/// Whether some slice of the fleet can serve it.
bool can_serve(const ServiceSpec& spec, const Scenario& scenario) {
  for (const FleetEntry& entry : scenario.fleet) {
    for (std::size_t profile = 0; profile < entry.model.profiles.size(); ++profile) {
      if (can_serve(spec, entry.model, {static_cast<std::uint16_t>(profile)})) return true;
    }
    if (can_serve(spec, entry.model, ProfileId::full())) return true;
  }
  return false;
}

/// Empty, or why a service cannot wait for that reason.
std::string waits_wrongly(const Session& session, ServiceId id, const std::string& reason) {
  const ServiceSpec& spec = std::as_const(session.scenario()).services[id.index];
  if (reason == "NoSlice" || reason == "NotInLayout") return {};
  if (reason == "ChangesUsedUp") return spec.changes_per_hour ? "" : "it has no such budget";
  if (reason == "FitsNoGpu") return can_serve(spec, session.scenario()) ? "a slice can serve it" : "";
  if (reason != "NoLoad") return "nothing is in its way any more";
  const auto minute = session.figures().minute_of(id);
  return minute && minute->requests > 0 ? "it has requests" : "";
}

}  // namespace

std::vector<std::string> find_misplaced(const Session& session) {
  std::vector<std::string> found;
  for (const StandingSlice& standing : session.snapshot().slices) {
    if (standing.is_leaving || standing.holding.services.empty()) continue;
    const ServiceId service = standing.holding.services.front();
    const ServiceSpec& spec = std::as_const(session.scenario()).services[service.index];
    const Slice& slice = standing.holding.slice;
    if (session.snapshot().services[service.index].revision == 0 || is_pinned(spec, slice)) continue;
    const bool is_useless = standing.holding.role == Role::kInference &&
                            !can_serve(spec, session.scenario().model_of(slice.gpu), slice.profile);
    if (is_useless) found.push_back(spec.name + " has a useless slice");
    find_forbidden_neighbours(session, standing, found);
  }
  return found;
}

std::vector<std::string> find_unrecovered(Session& session) {
  session.refresh();
  std::vector<std::string> found;
  for (const LostSlice* lost : session.lost_slices().all(session.snapshot())) {
    found.push_back(words_of(lost->slice.holding.slice) + " is still lost");
  }
  for (const auto& [name, entry] : session.catalog().services) {
    const Condition placed = session.watch().conditions_of(entry.id)[static_cast<std::size_t>(ConditionType::kPlaced)];
    if (placed.status == ConditionStatus::kTrue) continue;
    const std::string why = waits_wrongly(session, entry.id, placed.reason);
    if (!why.empty())
      found.push_back(fmt::format("{} waits: {}: {}: {}", name.name, placed.reason, placed.message, why));
  }
  return found;
}

ServiceSpec service_for_all_gpus(std::uint32_t gpu_count) {
  constexpr std::int64_t kPerGpu = 100;  // requests per second that a GPU can answer
  const Decimal rate(kPerGpu * gpu_count - kPerGpu / 5);
  ServiceSpec large = sim::testing::service_of("", {{.profile = "7g.80gb", .latency_ms = 1000 / kPerGpu}},
                                               sim::testing::generated(Generator::Kind::kPoisson, rate, 60));
  large.arrivals.repeat = true;
  large.expects = rate;
  return large;
}

std::vector<std::string> find_idle_gpus(const Session& session) {
  std::vector<std::string> found;
  for (std::uint32_t gpu = 0; gpu < session.scenario().gpu_count(); ++gpu) {
    const auto slices = session.snapshot().slices_on({gpu});
    const bool is_serving = std::ranges::any_of(
        slices, [](const StandingSlice& standing) { return standing.is_ready && !standing.holding.services.empty(); });
    if (!is_serving) found.push_back(fmt::format("GPU {} is stuck", gpu));
  }
  return found;
}

std::set<Slice> known_slices(const Session& session) {
  std::set<Slice> known;
  for (const StandingSlice& standing : session.snapshot().slices) known.insert(standing.holding.slice);
  return known;
}

std::vector<std::string> find_unrest(const Session& session) {
  std::vector<std::string> found;
  for (const StandingSlice& standing : session.snapshot().slices) {
    const std::string what = words_of(standing.holding.slice);
    if (standing.is_leaving) found.push_back(what + " still leaves");
    if (!standing.is_ready) found.push_back(what + " is not ready");
    if (!standing.holding.services.empty()) found.push_back(what + " is held");
  }
  std::set<Slice> standing;
  for (const world::DeviceMemory& device : session.world_left().devices) {
    for (const world::SliceMemory& slice : device.slices) standing.insert(slice.slice);
  }
  if (known_slices(session) != standing) found.emplace_back("the engine and the devices know other slices");
  return found;
}

std::vector<std::string> find_differences(const Session& before, const Session& after) {
  std::vector<std::string> found;
  const auto expect = [&](bool is_equal, const char* what) {
    if (!is_equal) found.push_back(fmt::format("made again with another {}", what));
  };
  const Snapshot& a = before.snapshot();
  const Snapshot& b = after.snapshot();
  expect(before.now() >= after.now(), "clock, ahead");
  expect(a.version == b.version, "version of the state");
  expect(a.now == b.now, "time of the last step");
  expect(std::ranges::equal(a.slices, b.slices), "list of slices");
  expect(a.services.size() == b.services.size(), "number of services");
  for (std::size_t index = 0; index < std::min(a.services.size(), b.services.size()); ++index) {
    expect(a.services[index].since == b.services[index].since, "beginning of a service");
    expect(a.services[index].revision == b.services[index].revision, "revision of a service");
    expect(a.services[index].seconds.size() == b.services[index].seconds.size(), "number of seconds of a service");
  }
  expect(a.gpus == b.gpus, "list of GPUs");
  for (std::uint32_t gpu = 0; gpu < a.gpus.size(); ++gpu) {
    expect(before.is_drained({gpu}) == after.is_drained({gpu}), "drained GPU");
  }
  expect(a.pause == b.pause, "pause");
  expect(before.scenario().no_changes == after.scenario().no_changes, "list of windows without changes");
  expect(before.scenario().speeds == after.scenario().speeds, "speed factors");
  expect(before.scenario().measured_times == after.scenario().measured_times, "measured times");
  expect(before.device_times() == after.device_times(), "samples of changes");
  expect(before.events().last_sequence() == after.events().last_sequence(), "number of events");
  const auto first = before.events().oldest_sequence() - 1;
  expect(before.events().after(first, EventLog::kCapacity) == after.events().after(first, EventLog::kCapacity),
         "list of events");
  expect(before.catalog().tenants == after.catalog().tenants, "list of tenants");
  expect(before.catalog().services == after.catalog().services, "list of services");
  expect(before.plans().plans().size() == after.plans().plans().size(), "number of plans");
  expect(before.is_solving() == after.is_solving(), "question");
  expect(before.order_count() == after.order_count(), "count of orders");
  expect(before.usage().open() == after.usage().open(), "usage");
  return found;
}

}  // namespace berth::live::testing
