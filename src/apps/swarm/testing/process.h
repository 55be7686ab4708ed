/// A running engine of an installation: a session, and the recorder through which everything of it reaches the machine.
/// It can be killed between any two of its writes: nothing that it does afterwards has an effect outside.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/swarm/testing/machine.h"
#include "domain/values/scenario.h"
#include "edges/live_driver/recorder.h"
#include "live/session/session.h"
#include "live/session/testing/late_solver.h"
#include "live/session/testing/story.h"
#include "live/session/testing/usage_auditor.h"

namespace berth::swarm::testing {

/// The parts of an installation that outlive its processes.
struct Surroundings {
  Machine& machine;
  const Scenario& scenario;  ///< of the beginning
  std::uint64_t seed = 0;
  std::string policy = {};
  Approval approval = Approval::kNever;
  live::testing::LateSolver& solver;
  const std::int64_t& wall_us;    ///< the wall clock, which jumps
  const std::int64_t& steady_us;  ///< a clock that does not jump
  live::testing::Story& story;
  live::testing::UsageAuditor& usage;
};

class Process {
 public:
  explicit Process(const Surroundings& around) : around_(around) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Begins, or continues where the previous process ended. Returns why it ended at once instead.
  [[nodiscard]] std::optional<std::string> start();
  /// Called after the past was repeated and before the present begins; to be set before `start`.
  void on_repeated(std::function<void(const live::Session&)> look) { repeated_ = std::move(look); }

  /// Kills it before its `count`-th write from now on: an append, or a write of the devices.
  void die_before_write(std::uint64_t count) { writes_left_ = count; }
  [[nodiscard]] bool is_dead() const { return is_dead_ || around_.machine.is_down(); }

  [[nodiscard]] bool has_session() const { return session_ != nullptr; }
  [[nodiscard]] live::Session& session() { return *session_; }
  [[nodiscard]] const live::Session& session() const { return *session_; }
  [[nodiscard]] edges::Recorder& recorder() { return *recorder_; }
  /// Advances to that instant, or until it is dead.
  void run_to(Instant until, Rng& rng);
  /// Passes new events on to the story.
  void read_events();
  /// Records what was emitted.
  void record();
  /// Records a snapshot, if one can be made now. Returns whether it did.
  bool save();
  /// The last event that clients may have seen.
  [[nodiscard]] std::uint64_t last_safe_event() const { return session_->last_safe_event(); }
  /// When the engine last asked its solver.
  [[nodiscard]] Instant asked_at() const { return asked_at_; }

 private:
  class MortalWriter;

  /// Whether the next write is carried out.
  [[nodiscard]] bool may_write();
  [[nodiscard]] std::optional<std::string> open();
  void make_session();
  /// The wall clock when the process began, plus the time since.
  [[nodiscard]] std::int64_t wall_us_without_jumps() const {
    return wall_began_us_ + around_.steady_us - steady_began_us_;
  }
  [[nodiscard]] std::optional<std::string> go_on();
  [[nodiscard]] std::optional<std::string> wait_for_first_layout();

  Surroundings around_;
  std::int64_t wall_began_us_ = around_.wall_us;
  std::int64_t steady_began_us_ = around_.steady_us;
  std::function<void(const live::Session&)> repeated_;
  std::optional<std::uint64_t> writes_left_;
  bool is_dead_ = false;
  std::optional<std::string> saved_;  ///< from the past: the session,
  std::vector<live::Entry> entries_;  ///< and the entries after it
  std::unique_ptr<edges::Recorder> recorder_;
  Instant asked_at_;
  std::unique_ptr<live::Session> session_;
};

}  // namespace berth::swarm::testing
