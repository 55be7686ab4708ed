/// A running engine on a simulated fleet, with what people ask of it: recent events and plans. Pure: whoever drives it
/// has the clock, the threads and the lock.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "domain/scenario.h"
#include "live/event_log.h"
#include "live/plan_log.h"
#include "sim/loop.h"

namespace berth::live {

struct SessionOptions {
  std::uint64_t seed = 1;
  std::string policy = "berth";  ///< a row of the registry that needs no hindsight
  bool has_end = false;          ///< the world ends with the scenario's longest window, and plans count on that
  sim::JournalSink journal;      ///< may be empty
  /// Receives the questions of the engine; empty: each is answered at once, as in a replay.
  std::function<void(SolveRequest)> solve_elsewhere;
};

class Session {
 public:
  /// The scenario is not empty: at least one GPU and one service. Error: the policy cannot run here.
  [[nodiscard]] static Result<std::unique_ptr<Session>> make(Scenario scenario, SessionOptions options);
  /// For `make`, which checks the options.
  Session(Scenario scenario, SessionOptions options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The first layout is decided and in place.
  void begin() { loop_->begin(); }
  /// Goes on to the next stop of the loop if that is not after `until`; returns whether it did.
  bool advance(Instant until);
  [[nodiscard]] bool is_over() const { return loop_->is_over(); }
  void answer(SolveFinished finished) { loop_->answer(std::move(finished)); }

  void schedule(GpuId gpu, GpuScheduling scheduling, std::string reason);
  void lose_gpu(GpuId gpu) { loop_->lose_gpu(gpu); }
  void return_gpu(GpuId gpu) { loop_->return_gpu(gpu); }

  [[nodiscard]] Instant now() const { return loop_->now(); }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const Snapshot& snapshot() const { return loop_->engine().snapshot(); }
  [[nodiscard]] bool is_solving() const { return loop_->engine().has_open_question(); }
  [[nodiscard]] const EventLog& events() const { return events_; }
  [[nodiscard]] const PlanLog& plans() const { return plans_; }
  [[nodiscard]] const std::optional<std::string>& infeasible() const { return loop_->infeasible(); }
  [[nodiscard]] std::uint64_t step_count() const { return step_count_; }

 private:
  void note_record(const sim::JournalRecord& record);
  void note_event(const Event& event);
  void note_answer(const StepAnswer& answer);
  void append(Instant at, EventKind kind, ObjectName object, std::string message);

  const Scenario scenario_;
  SessionOptions options_;
  EventLog events_;
  PlanLog plans_;
  std::optional<Plan> arrived_;  ///< in the step to come
  std::uint64_t step_count_ = 0;
  std::unique_ptr<sim::Loop> loop_;
};

/// Names of objects in the API.
[[nodiscard]] std::string gpu_name(GpuId gpu);
/// "gpu-3-1g.10gb-0": unique while the slice stands.
[[nodiscard]] std::string slice_name(const Scenario& scenario, const Slice& slice);
[[nodiscard]] std::string plan_name(std::uint64_t id);
/// The number of "gpu-3", if it is a GPU of the scenario.
[[nodiscard]] std::optional<GpuId> find_gpu(const Scenario& scenario, std::string_view name);

}  // namespace berth::live
