#include "live/session/service_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <variant>

#include "base/core/overloaded.h"
#include "domain/profile/operating_point.h"
#include "domain/values/constraint.h"
#include "domain/values/frozen.h"
#include "engine/state/changes.h"
#include "live/session/object_names.h"

namespace berth::live {
namespace {

/// Names in a message, at most.
constexpr std::size_t kNamesMax = 8;

std::string some_of(const std::set<std::string>& names) {
  const std::vector<std::string> shown(
      names.begin(), std::next(names.begin(), static_cast<std::ptrdiff_t>(std::min(names.size(), kNamesMax))));
  const std::string more = names.size() > kNamesMax ? fmt::format(" and {} more", names.size() - kNamesMax) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), more);
}

/// Whether a slice of some GPU model of the fleet can serve it with some variant.
bool fits(const Scenario& scenario, const ServiceSpec& service) {
  for (const FleetEntry& entry : scenario.fleet) {
    std::vector<ProfileId> profiles{ProfileId::full()};
    for (std::size_t index = 0; index < entry.model.profiles.size(); ++index) {
      profiles.push_back({static_cast<std::uint16_t>(index)});
    }
    for (const ProfileId profile : profiles) {
      for (int variant = 0; variant <= static_cast<int>(service.variants.size()); ++variant) {
        if (profile::choose_point(service, entry.model, profile, variant)) return true;
      }
    }
  }
  return false;
}

bool is_met(const PlannedFloor& floor) { return floor.planned >= floor.needed * (1 - 1e-9); }

/// A service without a request for that long is expected to get none.
constexpr std::ptrdiff_t kQuietSeconds = 100;

bool is_quiet(const ServiceState& service) {
  const auto& seconds = service.seconds;
  if (std::ssize(seconds) < kQuietSeconds) return false;
  return std::all_of(seconds.end() - kQuietSeconds, seconds.end(),
                     [](const ServiceSecond& second) { return second.arrivals == 0; });
}

std::string unmet_words(const Scenario& scenario, const std::optional<UnmetFloors>& unmet) {
  if (!unmet) return "";
  return std::visit(Overloaded{
                        [&](const ProvenConflict& conflict) {
                          std::vector<std::string> names;
                          names.reserve(conflict.constraints.size());
                          for (const ConstraintId& id : conflict.constraints) {
                            names.push_back(constraint_name(scenario, id));
                          }
                          return fmt::format("; no plan keeps all of: {}", fmt::join(names, ", "));
                        },
                        [](const ChangeUnderWay&) { return std::string("; a change that began earlier is not done"); },
                        [](const FloorsNotDecided&) {
                          return std::string("; the search ended with neither such a plan nor a conflict");
                        },
                    },
                    *unmet);
}

/// Why plans leave these GPUs alone.
std::string foreign_words(const std::vector<GpuId>& gpus) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(gpus.size(), kNamesMax); ++i) names.push_back(gpu_name(gpus[i]));
  const std::string more = gpus.size() > kNamesMax ? fmt::format(" and {} more", gpus.size() - kNamesMax) : "";
  return fmt::format("{}{}: {}", fmt::join(names, ", "), more,
                     gpus.size() == 1 ? "a slice of others stands there, and no plan changes anything on that GPU"
                                      : "slices of others stand there, and no plan changes anything on those GPUs");
}

std::string_view unmet_reason(const std::optional<UnmetFloors>& unmet) {
  if (!unmet) return "NotDecided";
  constexpr std::string_view kWords[] = {"Conflict", "ChangeUnderWay", "NotDecided"};
  return kWords[unmet->index()];
}

}  // namespace

// ---- words

std::string_view word(ServicePhase phase) {
  constexpr std::string_view kWords[] = {"Waiting", "Starting", "Running", "Draining", "Cold"};
  return kWords[static_cast<std::size_t>(phase)];
}

std::string_view word(SliceState state) {
  constexpr std::string_view kWords[] = {"creating", "starting", "serving", "retraining",
                                         "draining", "idle",     "foreign", "lost"};
  return kWords[static_cast<std::size_t>(state)];
}

std::string misfit_of(const Scenario& scenario, const ServiceSpec& service) {
  if (fits(scenario, service)) return "";
  std::set<std::string> measured;
  for (const PerformancePoint& point : service.table.points) measured.insert(point.gpu + " " + point.profile);
  std::set<std::string> models;
  for (const FleetEntry& entry : scenario.fleet) {
    models.insert(entry.model.name + (entry.model.has_full ? "" : " without full"));
  }
  const profile::UsableRule rule = profile::usable_rule(service);
  return fmt::format(
      "no slice of the fleet can serve it: wanted a point below {} ms with at most {} processes on {}; its profile has "
      "points on {}",
      rule.limit_ms.to_string(), rule.processes_max, models.empty() ? "a GPU, but the fleet is empty" : some_of(models),
      measured.empty() ? "nothing" : some_of(measured));
}

// ---- what is seen

ServicePhase ServiceSlices::phase() const {
  if (serving > 0) return ServicePhase::kRunning;
  if (staying > 0) return ServicePhase::kStarting;
  return indices.empty() ? ServicePhase::kWaiting : ServicePhase::kDraining;
}

void ServiceWatch::plan_made(const Solution& solution) {
  if (solution.plan.is_ordered) return;
  planned_at_ = solution.plan.made_at;
  if (!solution.floors) return;
  floors_ = *solution.floors;
  const bool is_any_short = std::ranges::any_of(floors_, std::not_fn(is_met));
  // A plan without changes does not search again for the reason.
  if (solution.plan.unmet_floors || !is_any_short) unmet_floors_ = solution.plan.unmet_floors;
}

void ServiceWatch::proposal_waits(const Plan& plan) {
  proposal_ = Proposal{.plan = plan.id, .services = {}};
  for (const Action& action : plan.actions) {
    const auto* given = std::get_if<AssignSlice>(&action.what);
    if (given == nullptr) continue;
    proposal_->services.insert(given->holding.services.begin(), given->holding.services.end());
  }
}

void ServiceWatch::slice_failed(ServiceId service, std::string how) {
  if (service.index < services_.size()) services_[service.index].failure = std::move(how);
}

void ServiceWatch::read_spec(ServiceId service) {
  if (service.index < services_.size()) services_[service.index].misfit.reset();
  profiled_.clear();
  forget_conflict_of(service);
}

void ServiceWatch::forget(ServiceId service) {
  if (service.index < services_.size()) services_[service.index] = {};
  profiled_.clear();
  std::erase_if(floors_, [&](const PlannedFloor& floor) { return floor.service == service; });
  forget_conflict_of(service);
}

void ServiceWatch::forget_conflict_of(ServiceId service) {
  const auto* conflict = unmet_floors_ ? std::get_if<ProvenConflict>(&*unmet_floors_) : nullptr;
  if (conflict == nullptr) return;
  const bool is_named = std::ranges::any_of(
      conflict->constraints, [&](const ConstraintId& constraint) { return constraint.service == service; });
  if (is_named) unmet_floors_.reset();
}

bool ServiceWatch::update(const Snapshot& snapshot) {
  profiled_.clear();
  services_.resize(std::max(services_.size(), scenario_.services.size()));
  for (std::size_t index = 0; index < services_.size(); ++index) {
    Known& known = services_[index];
    known.slices = {};
    if (!known.misfit && index < scenario_.services.size())
      known.misfit = misfit_of(scenario_, scenario_.services[index]);
    if (index < snapshot.services.size()) {
      known.came_at = snapshot.services[index].since;
      known.is_quiet = is_quiet(snapshot.services[index]);
    }
  }
  note_used_up(snapshot);
  pause_ = snapshot.pause ? std::optional(snapshot.pause->reason) : std::nullopt;
  note_frozen(snapshot.now);
  note_open_gpus(snapshot);
  std::size_t next = 0;
  for (const StandingSlice& standing : snapshot.slices) {
    const std::size_t index = next++;
    for (const ServiceId service : standing.holding.services) {
      if (service.index >= services_.size()) continue;
      ServiceSlices& slices = services_[service.index].slices;
      slices.indices.push_back(index);
      if (standing.is_leaving) continue;
      ++slices.staying;
      if (!standing.is_ready || standing.holding.role != Role::kInference) continue;
      ++slices.serving;
      services_[service.index].failure.clear();
    }
  }
  const bool has_new_slice = note_seen(snapshot);
  const bool has_new_status = note_statuses(snapshot.now);
  return has_new_slice || has_new_status;
}

void ServiceWatch::note_open_gpus(const Snapshot& snapshot) {
  has_open_gpu_ = false;
  with_foreign_.clear();
  const std::vector<GpuId> foreign = snapshot.gpus_with_foreign_slices();
  for (std::uint32_t gpu = 0; gpu < scenario_.gpu_count(); ++gpu) {
    if (!snapshot.is_open({gpu})) continue;
    if (replans_ && std::ranges::binary_search(foreign, GpuId{gpu})) {
      with_foreign_.push_back({gpu});
    } else {
      has_open_gpu_ = true;
    }
  }
}

void ServiceWatch::note_used_up(const Snapshot& snapshot) {
  used_up_.assign(services_.size(), false);
  for (std::size_t index = 0; index < std::min(scenario_.services.size(), snapshot.services.size()); ++index) {
    const auto& budget = scenario_.services[index].changes_per_hour;
    used_up_[index] = budget && changes_in_hour(snapshot.services[index], snapshot.now) >= *budget;
  }
}

void ServiceWatch::note_frozen(Instant now) {
  frozen_.reset();
  const auto until = frozen_until(scenario_, now);
  if (!until) return;
  const bool is_weekly = end_of_window(scenario_.no_changes, now).has_value();
  frozen_ = fmt::format("{}: no change begins before second {} of the world",
                        is_weekly ? "a window without changes" : "a frozen window", (*until - Instant()).to_seconds());
}

bool ServiceWatch::note_seen(const Snapshot& snapshot) {
  // Both are sorted by slice; at one place there are at most a few that leave and one that stays.
  std::vector<Seen> seen;
  seen.reserve(snapshot.slices.size());
  bool has_new = false;
  auto before = seen_.begin();
  for (const StandingSlice& standing : snapshot.slices) {
    const Slice& slice = standing.holding.slice;
    while (before != seen_.end() && before->slice < slice) ++before;
    std::optional<Instant> at;
    for (auto it = before; it != seen_.end() && it->slice == slice; ++it) {
      if (it->generation == standing.generation) at = it->at;
    }
    has_new = has_new || !at;
    seen.push_back({.slice = slice, .generation = standing.generation, .at = at.value_or(snapshot.now)});
  }
  seen_ = std::move(seen);
  return has_new;
}

std::optional<Instant> ServiceWatch::find_seen(const Slice& slice, std::uint64_t generation) const {
  for (const Seen& seen : std::ranges::equal_range(seen_, slice, {}, &Seen::slice)) {
    if (seen.generation == generation) return seen.at;
  }
  return std::nullopt;
}

bool ServiceWatch::note_statuses(Instant now) {
  bool has_new = false;
  for (std::uint32_t index = 0; index < std::min(services_.size(), scenario_.services.size()); ++index) {
    Known& known = services_[index];
    const auto conditions = judge({index});
    for (std::size_t type = 0; type < kWatchedConditions; ++type) {
      if (!known.is_new && known.statuses[type] == conditions[type].status) continue;
      known.statuses[type] = conditions[type].status;
      known.since[type] = now;
      has_new = true;
    }
    known.is_new = false;
  }
  return has_new;
}

bool ServiceWatch::has_profile_for(const std::string& gpu_model) const {
  const auto has_rows = [&](const PerformanceTable& table) {
    return std::ranges::binary_search(table.points, gpu_model, {}, &PerformancePoint::gpu);
  };
  const auto [known, is_new] = profiled_.try_emplace(gpu_model, false);
  if (!is_new) return known->second;
  for (std::size_t index = 0; index < scenario_.services.size() && !known->second; ++index) {
    const ServiceSpec& service = scenario_.services[index];
    if (service.is_absent) continue;
    known->second = has_rows(service.table) ||
                    std::ranges::any_of(service.variants, [&](const auto& variant) { return has_rows(variant.table); });
  }
  return known->second;
}

const ServiceSlices& ServiceWatch::slices_of(ServiceId service) const {
  static const ServiceSlices none;
  return service.index < services_.size() ? services_[service.index].slices : none;
}

std::optional<std::string> ServiceWatch::waits_because(ServiceId service) const {
  if (service.index >= services_.size() || services_[service.index].slices.staying > 0) return std::nullopt;
  return why_unplaced(service).first;
}

SliceState ServiceWatch::state_of(const Snapshot& snapshot, std::size_t index) const {
  const StandingSlice& standing = snapshot.slices[index];
  const Slice& slice = standing.holding.slice;
  if (standing.is_foreign) return SliceState::kForeign;
  if (standing.is_leaving) return SliceState::kDraining;
  const bool is_retraining = standing.holding.role == Role::kRetraining;
  if (standing.is_ready && standing.holding.services.empty()) return SliceState::kIdle;
  if (standing.is_ready) return is_retraining ? SliceState::kRetraining : SliceState::kServing;
  // A predecessor at the same place must go first.
  const auto leaves_there = [&](std::size_t other) {
    return other < snapshot.slices.size() && snapshot.slices[other].holding.slice == slice &&
           snapshot.slices[other].is_leaving;
  };
  const bool has_predecessor = leaves_there(index + 1) || (index > 0 && leaves_there(index - 1));
  if (has_predecessor || !created_.contains(slice)) return SliceState::kCreating;
  return standing.holding.services.empty() ? SliceState::kIdle : SliceState::kStarting;
}

// ---- conditions

std::array<Condition, kWatchedConditions> ServiceWatch::conditions_of(ServiceId service) const {
  auto conditions = judge(service);
  for (std::size_t type = 0; type < kWatchedConditions; ++type) {
    conditions[type].since = services_[service.index].since[type];
  }
  return conditions;
}

std::array<Condition, kWatchedConditions> ServiceWatch::judge(ServiceId service) const {
  const Known& known = services_[service.index];
  const ServiceSlices& slices = known.slices;
  Condition serving{.type = ConditionType::kServing, .status = ConditionStatus::kFalse, .reason = "NoneServes"};
  if (slices.serving > 0) {
    serving.status = ConditionStatus::kTrue;
    serving.reason = "Serving";
  }
  serving.message = fmt::format("{} of {} slices serve", slices.serving, slices.staying);
  return {placed(service), std::move(serving), floor_met(service)};
}

Condition ServiceWatch::placed(ServiceId service) const {
  const ServiceSlices& slices = services_[service.index].slices;
  Condition condition{.type = ConditionType::kPlaced, .status = ConditionStatus::kFalse};
  if (slices.staying > 0) {
    condition.status = ConditionStatus::kTrue;
    condition.reason = "HasSlices";
    condition.message = fmt::format("holds {} slice{}", slices.staying, slices.staying == 1 ? "" : "s");
  } else {
    std::tie(condition.reason, condition.message) = why_unplaced(service);
  }
  return condition;
}

std::pair<std::string, std::string> ServiceWatch::why_unplaced(ServiceId service) const {
  const Known& known = services_[service.index];
  if (known.misfit && !known.misfit->empty()) return {"FitsNoGpu", *known.misfit};
  if (pause_) return {"PlanningPaused", "planning is paused: " + *pause_};
  if (!has_open_gpu_ && with_foreign_.empty()) return {"NoOpenGpu", "every GPU is lost, cordoned or draining"};
  if (!has_open_gpu_) {
    const bool has_others = with_foreign_.size() < scenario_.gpu_count();
    return {"NoOpenGpu",
            foreign_words(with_foreign_) + (has_others ? "; every other GPU is lost, cordoned or draining" : "")};
  }
  if (frozen_) return {"Frozen", *frozen_};
  if (proposal_ && proposal_->services.contains(service)) {
    return {"AwaitsApproval", fmt::format("plan-{} gives it slices, and awaits approval", proposal_->plan)};
  }
  // A plan requested after it lost its slice took that into account.
  const Instant unplaced_since = known.since[static_cast<std::size_t>(ConditionType::kPlaced)];
  const bool is_planned_since = replans_ && planned_at_ && *planned_at_ > unplaced_since;
  if (!known.failure.empty() && !is_planned_since) return {"SliceFailed", known.failure};
  if (!replans_) return {"NotInLayout", "the policy keeps one layout, and no slice of it is free for the service"};
  if (!planned_at_ || *planned_at_ < known.came_at) return {"NotPlanned", "no plan was made since it came"};
  if (known.is_quiet) {
    return {"NoLoad", fmt::format("no request came in its last {} s", kQuietSeconds)};
  }
  if (service.index < used_up_.size() && used_up_[service.index]) {
    return {"ChangesUsedUp",
            fmt::format("its {} changes per hour are used up", *scenario_.services[service.index].changes_per_hour)};
  }
  std::string none = "the last plan gives it no slice: others gain more from them, or it gains too little";
  if (!with_foreign_.empty()) none += "; " + foreign_words(with_foreign_);
  return {"NoSlice", std::move(none)};
}

Condition ServiceWatch::floor_met(ServiceId service) const {
  Condition condition{.type = ConditionType::kFloorMet, .status = ConditionStatus::kTrue, .reason = "NoFloor"};
  condition.message = "the service has no floor";
  if (!scenario_.services[service.index].floor_attainment) return condition;
  const auto floor = std::ranges::find(floors_, service, &PlannedFloor::service);
  if (floor == floors_.end()) {
    condition.status = ConditionStatus::kUnknown;
    const bool is_planned = planned_at_ && *planned_at_ >= services_[service.index].came_at;
    condition.reason = is_planned ? "NotPlannedFor" : "NotPlanned";
    condition.message = is_planned ? "the policy does not plan for floors" : "no plan was made since it came";
    return condition;
  }
  const bool is_kept = is_met(*floor);
  condition.status = is_kept ? ConditionStatus::kTrue : ConditionStatus::kFalse;
  condition.reason = is_kept ? "Planned" : unmet_reason(unmet_floors_);
  condition.message = fmt::format("planned {:.1f} requests per second, needed {:.1f}{}", floor->planned, floor->needed,
                                  is_kept ? "" : unmet_words(scenario_, unmet_floors_));
  return condition;
}

}  // namespace berth::live
