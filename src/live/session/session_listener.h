/// What a session reports to the program that runs it, and what it asks of that program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/values/series.h"
#include "domain/values/slice.h"
#include "engine/loop/engine.h"
#include "live/session/entry.h"
#include "live/session/plan_log.h"
#include "live/session/usage_book.h"
#include "sim/world/journal.h"
#include "sim/world/order.h"

namespace berth::live {

/// A struct of handlers, none of which is empty: one that is not set does nothing. They are called on the thread that
/// drives the session and must not call it.
struct SessionListener {
  /// Each record of the world.
  sim::JournalSink journal = [](const sim::JournalRecord&) {};
  /// Each entry as it happens, to be recorded soon; orders and answers are among them unless
  /// SessionOptions::records_first.
  std::function<void(Entry)> entry = [](const Entry&) {};
  /// SessionOptions::records_first: records the entries so far and these. Returns why they are not durable: then they
  /// must not take effect.
  std::function<std::optional<std::string>(const std::vector<Entry>&)> record = [](const std::vector<Entry>&) {
    return std::optional<std::string>();
  };
  /// What the world remembers, whenever it has changed or its clock has advanced.
  std::function<void(const WorldChanges&)> world_changed = [](const WorldChanges&) {};
  /// Each interval of usage that is over, after the entry of the step in which it ended: both are to be recorded
  /// together.
  UsageSink usage = [](const UsageInterval&) {};
  /// The same while entries are repeated, when they are recorded already.
  UsageSink past_usage = [](const UsageInterval&) {};
  /// Each event that the engine is given, and each order of the world before it is carried out, in their order, also
  /// while entries are repeated.
  std::function<void(const Event&)> event = [](const Event&) {};
  std::function<void(const sim::Order&)> order = [](const sim::Order&) {};
  /// The figures of each second of the world, soon after it: names of services at first, and again every minute.
  std::function<void(SeriesSpan)> series = [](const SeriesSpan&) {};
  /// A service got its place, and nothing has happened to it yet.
  std::function<void(ServiceId)> service_set = [](ServiceId) {};
  /// A plan or order with actions takes effect, and is recorded; the snapshot is the state after that.
  std::function<void(const PlanStatus&, const Snapshot&)> plan_acts = [](const PlanStatus&, const Snapshot&) {};
  /// An action of such a plan has ended. Not while entries are repeated, like the one before.
  std::function<void(const PlanStatus&, const ActionChange&)> action_ended = [](const PlanStatus&,
                                                                                const ActionChange&) {};
  /// Solving::kElsewhere: a question of the engine, which Session::answer answers.
  std::function<void(SolveRequest)> question = [](const SolveRequest&) {};

  /// SessionOptions::proposals_expire: the wall clock in microseconds since 1970.
  std::function<std::int64_t()> wall_clock = [] { return std::int64_t{0}; };
  /// Devices outside: the number of the next intent.
  std::function<std::uint64_t()> next_intent = [] { return std::uint64_t{0}; };
  /// Outside devices: the id of the machine's boot, which is recorded, as nothing that was created survives a reboot.
  /// Nothing: it cannot be recorded now, and no intent is given out.
  std::function<std::optional<std::string>()> boot = [] { return std::optional<std::string>(); };
};

}  // namespace berth::live
