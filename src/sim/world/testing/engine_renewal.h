/// Replaces the engine of a loop, between two steps, by another one that must know the same: what follows is compared
/// with a run whose engine was never replaced.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "base/core/ensure.h"
#include "sim/world/loop.h"

namespace berth::sim::testing {

/// Whether the engine has a memory: no question is open, and no event waits for a step.
inline bool has_engine_memory(const Loop& loop) {
  return !loop.engine().has_open_question() && !loop.engine().has_unapplied_events();
}

/// The engine is restored from the bytes of its memory. Requires: has_engine_memory.
inline void restore_engine(Loop& loop) {
  const auto memory = from_bytes<EngineMemory>(bytes_of(loop.engine().memory()));
  ENSURE(memory.has_value());
  auto restored = loop.new_engine(loop.engine().scenario());
  const auto unread = restored->restore(*memory);
  ENSURE(unread.has_value() && unread->empty());
  loop.exchange_engine(std::move(restored));
}

/// Remembers all inputs of the engine of a loop, and rebuilds it from them.
class EngineRebuild {
 public:
  /// Also listens. To be called before the loop is made.
  void listen(LoopListener& listener) {
    listener.event = [this, next = std::move(listener.event)](const Event& event) {
      next(event);
      events_.push_back(event);
    };
    listener.answer = [this, next = std::move(listener.answer)](const StepAnswer& answer) {
      next(answer);
      log_.push_back({.now = loop_->now(), .events = std::exchange(events_, {})});
    };
  }
  /// The loop, before it begins. `scenario`: the one it was made for; both are borrowed.
  void attach(Loop& loop, const Scenario& scenario) {
    loop_ = &loop;
    scenario_ = &scenario;
  }

  /// Nothing is solved: the solutions are events.
  void rebuild() {
    auto engine = loop_->new_engine(*scenario_);
    for (const LoggedStep& logged : log_) {
      for (const Event& event : logged.events) engine->observe(event);
      static_cast<void>(engine->step(logged.now));
    }
    for (const Event& event : events_) engine->observe(event);
    loop_->exchange_engine(std::move(engine));
  }

 private:
  /// The engine's inputs of one step.
  struct LoggedStep {
    Instant now;
    std::vector<Event> events;
  };

  Loop* loop_ = nullptr;
  const Scenario* scenario_ = nullptr;
  std::vector<Event> events_;  ///< since the last step
  std::vector<LoggedStep> log_;
};

}  // namespace berth::sim::testing
