#include "live/whatif/chronicle.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "base/core/overloaded.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "world/slices/device_memory.h"

namespace berth::whatif {
namespace {

/// The slices on the devices as far as the engine knows. Slices under way are created again.
sim::WorldLeft left_as_known(const Snapshot& known, std::uint32_t gpu_count) {
  sim::WorldLeft left;
  left.devices.resize(gpu_count);
  for (std::uint32_t gpu = 0; gpu < gpu_count; ++gpu) {
    left.devices[gpu].is_lost = known.gpu_state({gpu}).health == GpuHealth::kLost;
  }
  std::uint64_t order = 0;
  for (const StandingSlice& standing : known.slices) {
    using Phase = world::SlicePhase;
    world::SliceMemory slice{
        .slice = standing.holding.slice,
        .phase = standing.is_leaving ? Phase::kDraining : (standing.is_ready ? Phase::kUp : Phase::kWaitingForRoom),
        .created_as = standing.generation,
        .assigned_as = standing.assignment,
        .role = standing.holding.role,
        .services = standing.holding.services,
        .point = standing.point,
        .is_unwanted = standing.is_leaving,
        .is_foreign = standing.is_foreign,
        .order = order++};
    if (slice.is_foreign) slice.phase = Phase::kUp;
    left.devices[slice.slice.gpu.index].slices.push_back(std::move(slice));
  }
  return left;
}

/// Repeats a session, and records its past.
class Reader {
 public:
  explicit Reader(Past past) : past_(std::move(past)) {}

  Result<Chronicle> read() {
    auto session = live::Session::make(past_.scenario, options());
    if (!session) return pass_on(session.error());
    session_ = std::move(*session);
    if (past_.session) {
      if (const auto restored = session_->restore(*past_.session); !restored) return pass_on(restored.error());
    }
    chronicle_.scenario = past_.scenario;
    chronicle_.seed = past_.seed;
    chronicle_.policy = past_.policy;
    chronicle_.begin = session_->now();
    note_first_services();
    if (past_.session) note_saved();
    session_->repeat(past_.entries, UINT64_MAX);
    chronicle_.scenario.measured_times = session_->scenario().measured_times;
    for (const live::Entry& entry : past_.entries) note_entry(entry);
    chronicle_.until = known_until();
    return std::move(chronicle_);
  }

 private:
  /// The service that had a place from then on.
  struct Holder {
    Instant from;
    std::optional<std::size_t> service;  ///< index in Chronicle::services; absent: no service
  };

  live::SessionOptions options() {
    live::SessionOptions options;
    options.seed = past_.seed;
    options.policy = past_.policy;
    options.approval = past_.approval;
    options.first_layout_takes_time = past_.first_layout_takes_time;
    options.has_end = past_.has_end;
    options.listener.event = [this](const Event& event) { note_event(event); };
    options.listener.order = [this](const sim::Order& order) { note_order(order); };
    return options;
  }

  [[nodiscard]] Instant now() const { return session_->now(); }

  // ---- services

  void note_first_services() {
    const SharedList<ServiceSpec>& services = session_->scenario().services;
    const auto& known = session_->snapshot().services;
    for (std::uint32_t index = 0; index < services.size(); ++index) {
      const std::shared_ptr<const ServiceSpec> spec = services.share(index);
      if (spec->is_absent) {
        holders_of({index}).push_back({.from = now(), .service = std::nullopt});
        continue;
      }
      const bool is_saved = past_.session && index < known.size();
      add_spec({index}, spec, is_saved ? known[index].retrains_since : Instant());
    }
  }

  void note_saved() {
    const Snapshot& known = session_->snapshot();
    for (std::uint32_t index = 0; index < known.services.size(); ++index) {
      if (known.services[index].is_absent) continue;
      for (const ServiceSecond& second : known.services[index].seconds) note_second(second);
    }
    const std::uint32_t gpu_count = past_.scenario.gpu_count();
    for (std::uint32_t gpu = 0; gpu < gpu_count; ++gpu) {
      const GpuState state = known.gpu_state({gpu});
      set_incident(IncidentKind::kGpuLost, state.health == GpuHealth::kLost, {gpu});
      set_incident(IncidentKind::kScheduled, state.scheduling != GpuScheduling::kOpen, {gpu});
    }
    set_incident(IncidentKind::kPaused, known.pause.has_value());
    set_incident(IncidentKind::kNoChanges, !session_->scenario().no_changes.spans.empty());
    chronicle_.run.left = left_as_known(known, gpu_count);
    for (world::DeviceMemory& device : chronicle_.run.left->devices) {
      for (world::SliceMemory& slice : device.slices) rename(slice.services, slice.role);
    }
    note_saved_retrainings(known);
    for (const auto& [place, speed] : session_->scenario().speeds) note_speed(place, speed.factor);
  }

  /// The progress of retrainings that are due is unknown: they start again.
  void note_saved_retrainings(const Snapshot& known) {
    std::vector<sim::ServiceMemory>& services = chronicle_.run.left->world.services;
    services.resize(chronicle_.services.size());
    for (std::uint32_t index = 0; index < known.services.size(); ++index) {
      const ServiceState& state = known.services[index];
      if (state.is_absent || !session_->scenario().services[index].retraining) continue;
      const std::size_t service = *holders_of({index}).back().service;
      services[service].retraining = sim::RetrainingMemory{
          .next_due = Instant() + chronicle_.services[service].specs.back().due_after(chronicle_.begin),
          .is_stale = state.is_retraining_due,
          .is_wanted = state.is_retraining_due,
          .done_share = {}};
    }
  }

  void add_spec(ServiceId place, const std::shared_ptr<const ServiceSpec>& spec, Instant retrains_since) {
    const live::ServiceName name{.tenant = spec->tenant, .name = spec->name};
    const auto [known, is_new] = by_name_.emplace(name, chronicle_.services.size());
    if (is_new) chronicle_.services.push_back({.name = name, .specs = {}, .lives = {}, .arrivals = {}});
    ServicePast& service = chronicle_.services[known->second];
    service.specs.push_back({.at = now(), .spec = spec, .retrains_since = retrains_since});
    const bool is_there = !service.lives.empty() && service.lives.back().until == Instant::never();
    if (!is_there) service.lives.push_back({.from = now()});
    auto& holders = holders_of(place);
    if (holders.empty() || holders.back().service != known->second) {
      holders.push_back({.from = now(), .service = known->second});
    }
  }

  std::vector<Holder>& holders_of(ServiceId place) {
    if (place.index >= holders_.size()) holders_.resize(place.index + std::size_t{1});
    return holders_[place.index];
  }

  void note_set(const ServiceSet& set) {
    const auto& holders = holders_of(set.service);
    const bool is_there = !holders.empty() && holders.back().service && !is_removed_[set.service];
    Instant retrains_since = now();
    if (is_there && !set.restarts_retraining) {
      retrains_since = chronicle_.services[*holders.back().service].specs.back().retrains_since;
    }
    is_removed_[set.service] = false;
    add_spec(set.service, set.spec, retrains_since);
    ServiceSet renamed = set;
    renamed.service = {static_cast<std::uint32_t>(*holders_of(set.service).back().service)};
    renamed.restarts_retraining = set.restarts_retraining || !is_there;
    add(std::move(renamed));
  }

  /// Its slices keep its name until they are gone.
  void note_removed(ServiceId place) {
    auto& holders = holders_of(place);
    ENSURE(!holders.empty() && holders.back().service);
    is_removed_[place] = true;
    chronicle_.services[*holders.back().service].lives.back().until = now();
  }

  // ---- arrivals

  /// The service that got the requests of that second: the requests of one removed in it are unknown.
  [[nodiscard]] std::optional<std::size_t> holder_in(ServiceId place, std::int64_t second) {
    std::optional<std::size_t> service;
    for (const Holder& holder : holders_of(place)) {
      const bool is_later = holder.from >= Instant::at_second(second + 1) && second >= 0;
      if (is_later && holder.from > chronicle_.begin) break;
      service = holder.service;
    }
    return service;
  }

  void note_second(const ServiceSecond& second) {
    if (const auto service = holder_in(second.service, second.second)) {
      chronicle_.services[*service].arrivals[second.second] = second.arrivals;
    }
  }

  void note_block(const live::SecondsSeen& block) {
    for (std::size_t i = 0; i < block.arrivals.size(); ++i) {
      ServiceSecond second;
      second.service = block.service;
      second.second = block.from_second + static_cast<std::int64_t>(i);
      second.arrivals = block.arrivals[i];
      note_second(second);
    }
  }

  /// The first second in which the arrivals of some service are not known yet.
  [[nodiscard]] std::int64_t known_until() const {
    std::optional<std::int64_t> until;
    for (const ServicePast& service : chronicle_.services) {
      if (service.lives.back().until != Instant::never()) continue;
      // A service's arrivals begin with the next second.
      std::int64_t known = service.lives.back().from.second() + 1;
      if (service.lives.back().from == Instant()) known = 0;
      if (!service.arrivals.empty()) known = std::max(known, service.arrivals.rbegin()->first + 1);
      until = std::min(until.value_or(known), known);
    }
    return until.value_or(now().second());
  }

  // ---- devices

  void note_event(const Event& event) {
    std::visit(Overloaded{
                   [&](const ServiceSecond& second) {
                     if (second.second < 0) note_second(second);
                   },
                   [&](const GpuLost& lost) {
                     add(lost);
                     set_incident(IncidentKind::kGpuLost, true, lost.gpu);
                   },
                   [&](const GpuReturned& returned) {
                     add(returned);
                     set_incident(IncidentKind::kGpuLost, false, returned.gpu);
                   },
                   [&](const SliceGone& gone) { add(gone); },
                   [&](const GpuScheduled& set) {
                     set_incident(IncidentKind::kScheduled, set.scheduling != GpuScheduling::kOpen, set.gpu);
                   },
                   [&](const SpeedMeasured& measured) { note_speed(measured.place, measured.factor); },
                   [&](const PlanningPaused&) { set_incident(IncidentKind::kPaused, true); },
                   [&](const PlanningResumed&) { set_incident(IncidentKind::kPaused, false); },
                   [&](const NoChangesSet& set) { set_incident(IncidentKind::kNoChanges, !set.windows.spans.empty()); },
                   [](const auto&) {},
               },
               event.what);
  }

  void note_order(const sim::Order& order) {
    std::visit(Overloaded{
                   [&](const sim::PlanOrder& given) { add(renamed(given)); },
                   [&](const ServiceSet& set) { note_set(set); },
                   [&](const ServiceRemoved& removed) { note_removed(removed.service); },
                   [&](const sim::FaultInjection& injected) {
                     add(injected);
                     const auto kind = injected.fault.kind;
                     const bool has_own = kind == sim::FaultKind::kLose || kind == sim::FaultKind::kReturn;
                     if (!has_own && kind != sim::FaultKind::kClear) note_instant(IncidentKind::kFault, now());
                   },
               },
               order);
  }

  void note_speed(SpeedPlace place, const std::optional<Decimal>& factor) {
    const auto& holders = holders_of(place.service);
    if (holders.empty() || !holders.back().service) return;
    place.service = {static_cast<std::uint32_t>(*holders.back().service)};
    chronicle_.speeds.push_back({.at = now(), .place = std::move(place), .factor = factor});
  }

  void note_entry(const live::Entry& entry) {
    if (const auto* block = std::get_if<live::SecondsSeen>(&entry.what)) note_block(*block);
    if (const auto* measured = std::get_if<live::SecondsMeasured>(&entry.what)) {
      for (const live::SecondsSeen& block : measured->services) note_block(block);
    }
    if (std::holds_alternative<live::ProposalWaits>(entry.what)) note_instant(IncidentKind::kApproval, entry.at);
    if (std::holds_alternative<live::Resumed>(entry.what)) note_instant(IncidentKind::kResumed, entry.at);
    if (const auto* jumped = std::get_if<live::ClockJumped>(&entry.what)) {
      chronicle_.incidents.push_back(
          {.kind = IncidentKind::kUnobserved, .span = {.from = jumped->from, .until = entry.at}});
    }
  }

  void note_instant(IncidentKind kind, Instant at) {
    chronicle_.incidents.push_back({.kind = kind, .span = {.from = at, .until = at}});
  }

  /// An incident begins, or is over.
  void set_incident(IncidentKind kind, bool is_on, GpuId gpu = {}) {
    const auto open = open_.find({kind, gpu});
    if (is_on && open == open_.end()) {
      open_[{kind, gpu}] = chronicle_.incidents.size();
      chronicle_.incidents.push_back({.kind = kind, .span = {.from = now()}});
    } else if (!is_on && open != open_.end()) {
      chronicle_.incidents[open->second].span.until = now();
      open_.erase(open);
    }
  }

  template <class What>
  void add(What what) {
    const Instant at = Instant() + (now() - chronicle_.begin);
    chronicle_.run.orders.push_back({.at = at, .what = std::move(what)});
  }

  [[nodiscard]] sim::PlanOrder renamed(sim::PlanOrder order) {
    for (Action& action : order.plan.actions) {
      auto* assign = std::get_if<AssignSlice>(&action.what);
      if (assign != nullptr) rename(assign->holding.services, assign->holding.role);
    }
    return order;
  }

  /// Maps places to services.
  void rename(std::vector<ServiceId>& services, Role& role) {
    std::vector<ServiceId> renamed;
    for (const ServiceId place : services) {
      const auto& holders = holders_of(place);
      if (holders.empty() || !holders.back().service) continue;
      renamed.push_back({static_cast<std::uint32_t>(*holders.back().service)});
    }
    std::ranges::sort(renamed);
    services = std::move(renamed);
    if (services.empty()) role = Role::kInference;
  }

  Past past_;
  std::unique_ptr<live::Session> session_;
  Chronicle chronicle_;
  std::map<live::ServiceName, std::size_t> by_name_;
  std::vector<std::vector<Holder>> holders_;                    ///< by place
  std::map<ServiceId, bool> is_removed_;                        ///< by place: whether its last holder is removed
  std::map<std::pair<IncidentKind, GpuId>, std::size_t> open_;  ///< by index in Chronicle::incidents
};

}  // namespace

Micros SpecPast::due_after(Instant from) const {
  const Retraining& retraining = *spec->retraining;
  const Micros first = retrains_since + retraining.offset - from;
  if (first >= Micros()) return first;
  const std::int64_t every = retraining.every.count();
  return Micros((every - -first.count() % every) % every);
}

bool ServicePast::is_there_at(Instant at) const {
  return std::ranges::any_of(lives, [&](const Span& life) { return life.from <= at && at < life.until; });
}

bool ServicePast::is_there_in(const Span& span) const {
  return std::ranges::any_of(lives, [&](const Span& life) { return life.from < span.until && span.from < life.until; });
}

const SpecPast& ServicePast::spec_before(Instant until) const {
  const SpecPast* found = &specs.front();
  for (const SpecPast& spec : specs) {
    if (spec.at < until) found = &spec;
  }
  return *found;
}

bool is_same_but_arrivals(const ServiceSpec& a, const ServiceSpec& b) {
  ServiceSpec with_those_of_b = a;
  with_those_of_b.arrivals = b.arrivals;
  with_those_of_b.agreed = b.agreed;  // no replay uses it
  return with_those_of_b == b;
}

Result<Chronicle> read_chronicle(Past past) { return Reader(std::move(past)).read(); }

}  // namespace berth::whatif
