/// Session: how it begins, is rebuilt from its entries, and resumes.
#include <algorithm>
#include <climits>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "base/core/overloaded.h"
#include "domain/values/event.h"
#include "domain/values/snapshot.h"
#include "engine/loop/engine.h"
#include "live/session/device_changes.h"
#include "live/session/entry_emitter.h"
#include "live/session/observed_gpus.h"
#include "live/session/series_feed.h"
#include "live/session/session.h"
#include "live/session/session_log.h"
#include "live/session/session_options.h"
#include "sim/world/loop.h"
#include "world/slices/reconcile.h"

namespace berth::live {

/// Repeats entries in order, with the steps between them.
class Session::Repetition {
 public:
  Repetition(Session& session, const std::vector<Entry>& entries) : session_(session), entries_(entries) {}

  void run() {
    note_blocks_of_process(entries_.begin());
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      const Entry& entry = *it;
      if (std::holds_alternative<SecondsSeen>(entry.what)) continue;
      if (std::holds_alternative<Resumed>(entry.what)) note_blocks_of_process(it + 1);
      const bool is_advance = std::holds_alternative<Advanced>(entry.what);
      if (!continues_without_steps(entry)) step_plainly(entry.at, is_advance);
      session_.loop_->replay_to(entry.at);
      repeat(entry);
    }
    if (!known_) return;
    session_.emitter_->know_answer(known_->question);
    session_.loop_->replay_answer(std::move(*known_));
  }

 private:
  static bool continues_without_steps(const Entry& entry) {
    return std::holds_alternative<Resumed>(entry.what) || std::holds_alternative<ClockJumped>(entry.what);
  }

  /// Reads the blocks of one process ahead: blocks come after the steps that saw them, but never in a later process.
  /// Seconds that a process did not record before a kill are counted again by the next one when it continues, and its
  /// engine sees them only then.
  void note_blocks_of_process(std::vector<Entry>::const_iterator it) {
    for (; it != entries_.end() && !std::holds_alternative<Resumed>(it->what); ++it) {
      if (const auto* block = std::get_if<SecondsSeen>(&it->what)) note_block(*block);
    }
  }

  void note_block(const SecondsSeen& block) {
    for (std::size_t i = 0; i < block.arrivals.size(); ++i) {
      ServiceSecond second;
      second.service = block.service;
      second.second = block.from_second + static_cast<std::int64_t>(i);
      second.arrivals = block.arrivals[i];
      second.queued = i < block.queued.size() ? block.queued[i] : 0;
      seconds_[{second.second, second.service.index}] = second;
    }
  }

  /// Makes the steps at whole seconds that have no entry.
  void step_plainly(Instant until, bool is_inclusive) {
    while (true) {
      const Instant next = Instant::at_second(session_.now().second() + 1);
      if (next > until || (next == until && !is_inclusive)) return;
      session_.loop_->replay_to(next);
      step();
    }
  }

  void step() {
    const Micros delay = session_.scenario_->observation_delay;
    while (!seconds_.empty() && Instant::at_second(seconds_.begin()->first.first + 1) + delay <= session_.now()) {
      const ServiceSecond second = seconds_.begin()->second;
      seconds_.erase(seconds_.begin());
      session_.loop_->replay({.at = Instant::at_second(second.second + 1), .what = second});
    }
    session_.loop_->replay_step();
    if (session_.now().second() <= session_.read_second_) return;
    session_.read_second_ = session_.now().second();
    static_cast<void>(session_.update_watch());
  }

  void repeat(const Entry& entry) {
    std::visit(Overloaded{
                   [&](const Begun&) { session_.loop_->replay_begin(); },
                   [&](const EventSeen& seen) { session_.loop_->replay(seen.event); },
                   [](const SecondsSeen&) {},
                   [&](const Stepped&) { step(); },
                   [](const Advanced&) {},
                   [&](const Resumed&) { session_.changes_->forget_open(); },
                   [&](const SliceNoted& noted) { session_.on_slice(noted.record); },
                   [&](const Refreshed&) { static_cast<void>(session_.update_watch()); },
                   [&](const TenantStored& stored) { session_.apply(stored); },
                   [&](const TenantDropped& dropped) { session_.apply(dropped); },
                   [&](const ServiceStored& stored) { session_.apply(stored); },
                   [&](const ServiceDropped& dropped) { session_.apply(dropped); },
                   [&](const SolutionKnown& known) { known_ = known.finished; },
                   [&](const SolutionArrived& arrived) {
                     ENSURE(known_ && known_->question == arrived.question);
                     session_.loop_->replay({.at = session_.now(), .what = *std::exchange(known_, std::nullopt)});
                   },
                   [&](const FaultGiven& given) {
                     session_.log_->on_fault(given, session_.now());
                     session_.loop_->replay_order(sim::FaultInjection{.id = given.id, .fault = given.order});
                   },
                   [&](const ProposalWaits& waits) { session_.apply(waits); },
                   // The outcome is among the events.
                   [&](const DeviceIntended& intended) { session_.changes_->begin(intended); },
                   [&](const DeviceEnded& ended) { static_cast<void>(session_.changes_->end(ended)); },
                   [](const MigModeIntended&) {},
                   [&](const DeviceNoted& noted) { session_.log_device_note(noted); },
                   [&](const SecondsMeasured& measured) { session_.apply(measured); },
                   [&](const ProgramNoted& noted) {
                     session_.log_program_note(noted);
                     static_cast<void>(session_.add_start(noted));
                   },
                   [&](const ForeignHeld& held) { session_.apply(held); },
                   [&](const ClockJumped& jumped) {
                     session_.log_->skip(jumped.from, entry.at, session_.options_->listener.past_usage);
                   },
               },
               entry.what);
  }

  Session& session_;
  const std::vector<Entry>& entries_;
  std::optional<SolveFinished> known_;                                       ///< has not arrived yet
  std::map<std::pair<std::int64_t, std::uint32_t>, ServiceSecond> seconds_;  ///< not seen yet, by second and service
};

std::vector<Event> Session::orders_of_start(Instant at) {
  std::vector<Event> orders;
  if (options_->no_changes && *options_->no_changes != scenario_->no_changes) {
    orders.push_back({.at = at, .what = NoChangesSet{.windows = *options_->no_changes}});
  }
  for (std::uint32_t gpu = 0; options_->observed && gpu < scenario_->gpu_count(); ++gpu) {
    const auto found = options_->observed->find({gpu});
    const auto why = found == options_->observed->end() ? std::nullopt : std::optional(found->second);
    if (auto order = order_to_observe({gpu}, gpu_state({gpu}), why))
      orders.push_back({.at = at, .what = *std::move(order)});
  }
  std::vector<Entry> entries;
  entries.reserve(orders.size());
  for (const Event& order : orders) entries.push_back({.at = at, .what = EventSeen{order}});
  if (orders.empty() || !emitter_->record(entries)) return {};
  return orders;
}

void Session::begin() { begin({}); }

void Session::begin(const std::map<GpuId, world::ObservedLayout>& sights) {
  emitter_->emit({.at = now(), .what = Begun{}});
  report_world(true);  // before anything is recorded: devices without a world have lost their memory
  loop_->begin(orders_of_start(now()), sights);
  after_step();
  report_world(true);
}

void Session::repeat(const std::vector<Entry>& entries, std::uint64_t carried_out) {
  emitter_->set_repeating(true);
  loop_->replay_after(carried_out);
  Repetition(*this, entries).run();
}

namespace {

bool exists(const world::SliceMemory& slice) { return !slice.is_foreign && slice.phase > world::SlicePhase::kCreating; }

/// Whether the device has a slice of ours at that place that exists.
bool has_slice(const world::DeviceMemory& device, const Slice& place) {
  return std::ranges::any_of(device.slices,
                             [&](const world::SliceMemory& slice) { return slice.slice == place && exists(slice); });
}

}  // namespace

void Session::on_unseen(const sim::WorldLeft& left) {
  const Instant at = std::max(left.world.now, now());
  for (std::uint32_t gpu = 0; gpu < left.devices.size(); ++gpu) {
    const std::set<Slice> created = watch().created();
    on_unseen_gone({gpu}, left.devices[gpu], created, at);
    on_unseen_there(left.devices[gpu], created, at);
  }
}

void Session::on_unseen_gone(GpuId gpu, const world::DeviceMemory& device, const std::set<Slice>& created, Instant at) {
  const Slice first{.gpu = gpu, .start = INT_MIN, .profile = {}};
  for (auto it = created.lower_bound(first); it != created.end() && it->gpu == gpu; ++it) {
    if (!device.is_lost && has_slice(device, *it)) continue;
    world::SliceRecord record{.at = at, .event = world::SliceEvent::kDestroyed, .slice = *it, .services = {}};
    if (device.is_lost) record.event = world::SliceEvent::kLost;
    const auto standing = snapshot().slices_at(*it);
    if (!standing.empty()) {
      const StandingSlice& known = *standing.begin();
      record.role = known.holding.role;
      record.services = known.holding.services;
      record.generation = known.generation;
    }
    on_slice(record);
  }
}

void Session::on_unseen_there(const world::DeviceMemory& device, const std::set<Slice>& created, Instant at) {
  for (const world::SliceMemory& slice : device.slices) {
    if (!exists(slice)) continue;
    world::SliceRecord record{.at = at,
                              .event = world::SliceEvent::kCreated,
                              .slice = slice.slice,
                              .role = slice.role,
                              .services = slice.services,
                              .generation = slice.created_as};
    if (!created.contains(slice.slice)) on_slice(record);
    const auto waits_for_it = [&](const StandingSlice& standing) {
      return !standing.is_ready && !standing.is_leaving && standing.assignment == slice.assigned_as;
    };
    const bool is_news = slice.phase == world::SlicePhase::kUp && !slice.services.empty() &&
                         std::ranges::any_of(snapshot().slices_at(slice.slice), waits_for_it);
    record.event = world::SliceEvent::kServing;
    if (is_news) on_slice(record);
  }
}

void Session::note_jump(Instant to) {
  const Instant from = now();
  emitter_->emit_plain_step();
  emitter_->emit({.at = to, .what = ClockJumped{from}});
  log_->skip(from, to, options_->listener.usage);
  // Before the devices remember the later clock: a process that continues from there must know of the jump.
  emitter_->record_emitted();
}

void Session::resume(sim::WorldLeft left, std::optional<Instant> clock) {
  ENSURE(emitter_->is_repeating());
  emitter_->set_repeating(false);
  log_->plans().forget_counts();
  loop_->replay_end();
  // The devices may remember a later instant than the last entry.
  const Instant known = std::max(left.world.now, now());
  emitter_->emit({.at = known, .what = Resumed{}});
  changes_->forget_open();
  loop_->replay_to(known);
  const Instant end = options_->has_end ? Instant::at_second(scenario_->simulated_seconds()) : Instant::never();
  const Instant at = std::max(known, std::min(end, clock.value_or(known)));
  if (at > known) note_jump(at);
  loop_->replay_to(at);
  left.world.now = at;
  world::disown_unknown(loop_->engine().last_numbers(), left.devices);
  on_unseen(left);
  if (const auto first = orders_of_start(at); !first.empty()) loop_->command(first);
  loop_->resume(std::move(left));
  series_->figures().begin(now(), loop_->sm_time());
  after_step();
  // The process may have ended before it reported until when a proposal waits.
  const Plan* waiting = loop_->engine().waiting();
  const PlanStatus* status = waiting == nullptr ? nullptr : plans().find(waiting->id);
  if (status != nullptr && !status->expires_at_wall_us) wait_for_approval(waiting->id);
  report_world(true);
  resume_calibration();
  // The previous process may have ended between a measured time and its event; the speed may have changed.
  for (const auto& [change, time] : changes_->times()) learn_time(change);
}

sim::WorldLeft Session::world_left() const {
  sim::WorldLeft left{.world = loop_->world().memory(), .devices = {}};
  left.world.orders = loop_->order_count();
  for (std::uint32_t gpu = 0; gpu < scenario_->gpu_count(); ++gpu) {
    left.devices.push_back(loop_->world().memory_of({gpu}));
  }
  return left;
}

}  // namespace berth::live
