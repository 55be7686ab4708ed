/// What a session tells of what it was given, and how it is made again from that.
#include <algorithm>
#include <climits>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "base/core/overloaded.h"
#include "live/session/observed_gpus.h"
#include "live/session/session.h"
#include "world/slices/reconcile.h"

namespace berth::live {
namespace {

constexpr std::size_t kBlockSeconds = 60;

}  // namespace

// ---- what is told

void Session::tell(Entry entry) {
  if (is_repeating_) return;
  note_told(entry.at);
  if (options_.entries) options_.entries(std::move(entry));
}

void Session::note_told(Instant at) {
  has_news_ = true;
  // That it stepped there before is implied only for earlier instants.
  const auto plain_step = std::exchange(plain_step_, std::nullopt);
  if (plain_step == at && options_.entries) options_.entries({.at = at, .what = Advanced{}});
}

void Session::tell_event(const Event& event) {
  std::visit(Overloaded{
                 [&](const ServiceSecond& second) { tell_second(second); },
                 // Orders are told before they are given.
                 [](const ServiceSet&) {},
                 [](const ServiceRemoved&) {},
                 [](const GpuScheduled&) {},
                 [](const PlanApproved&) {},
                 [](const PlanExpired&) {},
                 [](const PlanningPaused&) {},
                 [](const PlanningResumed&) {},
                 [](const NoChangesSet&) {},
                 [](const TimesMeasured&) {},
                 [&](const SolveFinished& finished) {
                   if (finished.question == known_question_) {
                     tell({.at = now(), .what = SolutionArrived{finished.question}});
                   } else {
                     tell({.at = now(), .what = EventSeen{event}});
                   }
                 },
                 [&](const auto&) { tell({.at = now(), .what = EventSeen{event}}); },
             },
             event.what);
}

bool Session::order(const std::vector<Entry>& orders) {
  if (!record_order(orders)) return false;
  carry_out(orders);
  return true;
}

bool Session::record_order(const std::vector<Entry>& orders) {
  if (options_.record) {
    note_told(orders.front().at);
    why_not_recorded_ = options_.record(orders);
    if (why_not_recorded_) return false;
    note_recorded();
  } else {
    for (const Entry& each : orders) tell(each);
  }
  return true;
}

void Session::carry_out(const std::vector<Entry>& orders) {
  std::vector<Event> events;
  bool has_services = false;
  for (const Entry& each : orders) {
    std::visit(Overloaded{
                   [&](const EventSeen& seen) {
                     if (const auto* scheduled = std::get_if<GpuScheduled>(&seen.event.what)) {
                       ordered_[scheduled->gpu] = *scheduled;
                     }
                     events.push_back(seen.event);
                   },
                   [&](const FaultGiven& given) {
                     note_fault(given);
                     loop_->inject(given.id, given.order);
                   },
                   [&](const SolutionKnown& known) {
                     known_question_ = known.finished.question;
                     loop_->answer(known.finished);
                   },
                   [&](const TenantStored& stored) { store(stored); },
                   [&](const TenantDropped& dropped) { store(dropped); },
                   [&](const ServiceStored& stored) {
                     store(stored);
                     has_services = has_services || stored.set;
                   },
                   [&](const ServiceDropped& dropped) {
                     store(dropped);
                     has_services = true;
                   },
                   [](const auto&) { ENSURE(false && "no order"); },
               },
               each.what);
  }
  if (has_services) loop_->step_for_services();
  if (!events.empty()) loop_->command(events);
  tell_world(false);
}

bool Session::answer(SolveFinished finished) {
  return order({{.at = now(), .what = SolutionKnown{std::move(finished)}}});
}

void Session::tell_second(const ServiceSecond& second) {
  if (is_repeating_ || !options_.entries || second.second < 0) return;
  if (second.service.index >= blocks_.size()) blocks_.resize(second.service.index + std::size_t{1});
  std::optional<SecondsSeen>& block = blocks_[second.service.index];
  const auto next = [&] { return block->from_second + std::ssize(block->arrivals); };
  if (block && (next() != second.second || block->arrivals.size() >= kBlockSeconds)) {
    tell_block(second.service);
  }
  if (!block)
    block = SecondsSeen{.service = second.service, .from_second = second.second, .arrivals = {}, .queued = {}};
  block->arrivals.push_back(second.arrivals);
  block->queued.push_back(second.queued);
}

void Session::tell_step(const StepAnswer& answer) {
  if (is_repeating_) return;
  const bool is_second = now() == Instant::at_second(now().second());
  // A second step at one instant is never implied.
  const bool is_first = std::exchange(stepped_at_, now()) != now();
  // One that acts is told before anything comes of it.
  const bool acts = !answer.plan.actions.empty();
  const bool is_plain = is_second && is_first && !acts && !std::exchange(has_news_, false);
  if (is_plain) {
    plain_step_ = now();
  } else {
    tell({.at = now(), .what = Stepped{}});
    has_news_ = false;
  }
}

void Session::tell_block(ServiceId service) {
  if (service.index >= blocks_.size() || !blocks_[service.index]) return;
  options_.entries({.at = now(), .what = std::move(*blocks_[service.index])});
  blocks_[service.index].reset();
}

void Session::tell_blocks() {
  for (std::uint32_t index = 0; index < blocks_.size(); ++index) tell_block({index});
}

void Session::tell_clock() {
  tell_world(true);
  const auto plain_step = std::exchange(plain_step_, std::nullopt);
  if (plain_step && options_.entries) options_.entries({.at = *plain_step, .what = Advanced{}});
}

void Session::tell_world(bool with_clock) {
  if (!options_.world_changed) return;
  WorldChanges changes{.now = now(), .devices = {}};
  for (const GpuId gpu : loop_->take_changed_gpus()) changes.devices.emplace_back(gpu, loop_->world().memory_of(gpu));
  const bool is_changed = loop_->take_is_world_changed() || told_orders_ != loop_->order_count();
  if (is_changed || with_clock) {
    changes.world = loop_->world().memory();
    changes.world->orders = told_orders_ = loop_->order_count();
  }
  options_.world_changed(changes);
}

void Session::tell_all() {
  // The engine will not see what the observation delay still holds back, but it happened.
  if (is_over()) {
    for (const ServiceSecond& second : loop_->take_unseen_seconds()) tell_second(second);
  }
  tell_blocks();
  if (options_.series) give_series(std::nullopt);  // a second that ended with the world
  tell_world(true);
  const auto plain_step = std::exchange(plain_step_, std::nullopt);
  if (plain_step && options_.entries) options_.entries({.at = *plain_step, .what = Advanced{}});
}

// ---- how it is made again

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
      if (!std::holds_alternative<Resumed>(entry.what)) step_plainly(entry.at, is_advance);
      session_.loop_->replay_to(entry.at);
      repeat(entry);
    }
    if (!known_) return;
    session_.known_question_ = known_->question;
    session_.loop_->replay_answer(std::move(*known_));
  }

 private:
  /// Blocks come after the steps that saw them, but never in another process: what one did not record before a kill,
  /// the next one counts again when it goes on, and its engine sees it only then.
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

  /// The steps at whole seconds of which no entry tells.
  void step_plainly(Instant until, bool is_inclusive) {
    while (true) {
      const Instant next = Instant::at_second(session_.now().second() + 1);
      if (next > until || (next == until && !is_inclusive)) return;
      session_.loop_->replay_to(next);
      step();
    }
  }

  void step() {
    const Micros delay = session_.scenario_.observation_delay;
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
                   [&](const Resumed&) { session_.samples_.forget_open(); },
                   [&](const SliceNoted& noted) { session_.note_record(noted.record); },
                   [&](const Refreshed&) { static_cast<void>(session_.update_watch()); },
                   [&](const TenantStored& stored) { session_.store(stored); },
                   [&](const TenantDropped& dropped) { session_.store(dropped); },
                   [&](const ServiceStored& stored) { session_.store(stored); },
                   [&](const ServiceDropped& dropped) { session_.store(dropped); },
                   [&](const SolutionKnown& known) { known_ = known.finished; },
                   [&](const SolutionArrived& arrived) {
                     ENSURE(known_ && known_->question == arrived.question);
                     session_.loop_->replay({.at = session_.now(), .what = *std::exchange(known_, std::nullopt)});
                   },
                   [&](const FaultGiven& given) {
                     session_.note_fault(given);
                     session_.loop_->replay_order(sim::FaultInjection{.id = given.id, .fault = given.order});
                   },
                   [&](const ProposalWaits& waits) { session_.wait_for_approval(waits); },
                   // What came of it is among the events.
                   [&](const DeviceIntended& intended) { session_.note_intended(intended); },
                   [&](const DeviceEnded& ended) { static_cast<void>(session_.note_ended(ended)); },
                   [](const MigModeIntended&) {},
                   [&](const DeviceNoted& noted) { session_.log_device(noted); },
               },
               entry.what);
  }

  Session& session_;
  const std::vector<Entry>& entries_;
  std::optional<SolveFinished> known_;                                       ///< that has not arrived yet
  std::map<std::pair<std::int64_t, std::uint32_t>, ServiceSecond> seconds_;  ///< not seen yet, by second and service
};

std::vector<Event> Session::orders_of_start(Instant at) {
  std::vector<Event> orders;
  if (options_.no_changes && *options_.no_changes != scenario_.no_changes) {
    orders.push_back({.at = at, .what = NoChangesSet{.windows = *options_.no_changes}});
  }
  for (std::uint32_t gpu = 0; options_.observed && gpu < scenario_.gpu_count(); ++gpu) {
    const auto found = options_.observed->find({gpu});
    const auto why = found == options_.observed->end() ? std::nullopt : std::optional(found->second);
    if (auto order = order_to_observe({gpu}, gpu_state({gpu}), why))
      orders.push_back({.at = at, .what = *std::move(order)});
  }
  std::vector<Entry> entries;
  entries.reserve(orders.size());
  for (const Event& order : orders) entries.push_back({.at = at, .what = EventSeen{order}});
  if (orders.empty() || !record_order(entries)) return {};
  return orders;
}

void Session::begin(const std::map<GpuId, world::ObservedLayout>& sights) {
  tell({.at = now(), .what = Begun{}});
  tell_world(true);  // before anything is recorded: devices without a world have forgotten it
  loop_->begin(orders_of_start(now()), sights);
  after_step();
  tell_world(true);
}

void Session::repeat(const std::vector<Entry>& entries, std::uint64_t carried_out) {
  is_repeating_ = true;
  loop_->replay_after(carried_out);
  Repetition(*this, entries).run();
}

namespace {

/// Whether the device has a slice of ours at that place that exists.
bool has_slice(const world::DeviceMemory& device, const Slice& place) {
  return std::ranges::any_of(device.slices, [&](const world::SliceMemory& slice) {
    return slice.slice == place && !slice.is_foreign && slice.phase > world::SlicePhase::kCreating;
  });
}

}  // namespace

void Session::note_unseen(const sim::WorldLeft& left) {
  const Instant at = std::max(left.world.now, now());
  for (std::uint32_t gpu = 0; gpu < left.devices.size(); ++gpu) note_unseen({gpu}, left.devices[gpu], at);
}

void Session::note_unseen(GpuId gpu, const world::DeviceMemory& device, Instant at) {
  const std::set<Slice> created = watch_.created();
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
    note_record(record);
  }
  for (const world::SliceMemory& slice : device.slices) {
    if (slice.is_foreign || slice.phase <= world::SlicePhase::kCreating) continue;
    world::SliceRecord record{.at = at,
                              .event = world::SliceEvent::kCreated,
                              .slice = slice.slice,
                              .role = slice.role,
                              .services = slice.services,
                              .generation = slice.created_as};
    if (!created.contains(slice.slice)) note_record(record);
    const auto waits_for_it = [&](const StandingSlice& standing) {
      return !standing.is_ready && !standing.is_leaving && standing.assignment == slice.assigned_as;
    };
    const bool is_news = slice.phase == world::SlicePhase::kUp && !slice.services.empty() &&
                         std::ranges::any_of(snapshot().slices_at(slice.slice), waits_for_it);
    record.event = world::SliceEvent::kServing;
    if (is_news) note_record(record);
  }
}

void Session::resume(sim::WorldLeft left) {
  ENSURE(is_repeating_);
  is_repeating_ = false;
  loop_->replay_end();
  // The devices may remember a later instant than the last entry.
  const Instant at = std::max(left.world.now, now());
  tell({.at = at, .what = Resumed{}});
  samples_.forget_open();
  loop_->replay_to(at);
  world::disown_unknown(loop_->engine().last_numbers(), left.devices);
  note_unseen(left);
  if (const auto first = orders_of_start(at); !first.empty()) loop_->command(first);
  loop_->resume(std::move(left));
  figures_.begin(now(), loop_->sm_time());
  after_step();
  // The process may have ended before it told until when a proposal waits.
  const Plan* waiting = loop_->engine().waiting();
  const PlanStatus* status = waiting == nullptr ? nullptr : plans_.find(waiting->id);
  if (status != nullptr && !status->expires_at_wall_us && options_.wall_clock) {
    wait_for_approval({.plan = waiting->id, .expires_at_wall_us = options_.wall_clock() + kProposalWait.count()});
  }
  tell_world(true);
  // The process before may have ended between a measured time and its event; the speed may be another.
  for (const auto& [change, time] : samples_.times()) learn_time(change);
}

sim::WorldLeft Session::world_left() const {
  sim::WorldLeft left{.world = loop_->world().memory(), .devices = {}};
  left.world.orders = loop_->order_count();
  for (std::uint32_t gpu = 0; gpu < scenario_.gpu_count(); ++gpu) {
    left.devices.push_back(loop_->world().memory_of({gpu}));
  }
  return left;
}

}  // namespace berth::live
