/// The spans of plans and orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/core/instant.h"
#include "domain/tracing/recorder.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "live/session/plan_log.h"
#include "live/session/write_trace.h"
#include "live/traces/write_book.h"

namespace berth::live {

/// Each plan with actions that takes effect is a span `plan`, from when it was asked for until its last action has
/// ended, with the children `solve`, `journal.commit` and one per action (`slice.create`, `slice.destroy`,
/// `slice.assign`). Its parent is the oldest of the traced writes that it belongs to (WriteBook); the others are links;
/// without one it begins a trace.
///
/// All functions are called by those who change the session, one at a time.
class PlanTraces {
 public:
  static constexpr std::size_t kActionSpansMax = 1'000;  ///< of a plan
  static constexpr std::size_t kPlansMax = 1'000;        ///< under way; beyond it the oldest ends unfinished

  /// Requires: the recorder's functions are set.
  explicit PlanTraces(SpanRecorder recorder) : recorder_(std::move(recorder)) {}

  /// A traced write is recorded, and is carried out next; `now` is the world's time.
  void on_write(const WriteTrace& write, Instant now);
  /// The write that is carried out alone from now on; null: none. Its orders are the next that are recorded.
  void set_lone(std::shared_ptr<WriteTrace> write) { lone_ = std::move(write); }
  /// The session recorded something: orders, or what was emitted.
  void on_commit(const CommitTimes& times, bool has_orders, Instant now);

  /// The engine asked a question.
  void on_question(std::uint64_t question);
  /// Its answer has arrived, after solving for so long.
  void on_solved(std::uint64_t question, double solve_ms);
  /// SessionListener::plan_acts.
  void on_plan(const PlanStatus& plan, const Snapshot& snapshot, const Scenario& scenario);
  /// SessionListener::action_ended.
  void on_action(const PlanStatus& plan, const ActionChange& change);
  /// Nothing more is known of the plans that are under way: their spans end, marked as unfinished.
  void end_all();

 private:
  struct Question {
    std::int64_t asked_us = 0;
    std::optional<std::int64_t> solved_us = std::nullopt;
    std::uint64_t last_write = 0;  ///< WriteBook::last_number, when it was asked
  };
  struct OpenPlan {
    Span span;
    std::map<std::size_t, Span> actions = {};  ///< those under way that have a span, by index
    std::size_t running_count = 0;             ///< all that are under way
  };

  /// The span of a plan that was asked for then; nothing: it is not recorded.
  [[nodiscard]] std::optional<Span> begin(const PlanStatus& plan, const std::set<ObjectKey>& touched,
                                          const std::optional<Question>& question, Instant now);
  [[nodiscard]] std::optional<Question> take_question(std::uint64_t number);
  void end_child(const Span& parent, std::string name, const CommitTimes& times);
  void begin_actions(OpenPlan& open, const PlanStatus& plan, const Scenario& scenario);
  void keep(std::uint64_t id, OpenPlan open);
  void end_unfinished(OpenPlan open);
  void end(Span span, std::int64_t now_us, const std::string& failure);

  SpanRecorder recorder_;
  WriteBook writes_;
  std::shared_ptr<WriteTrace> lone_;
  std::optional<CommitTimes> commit_;  ///< the latest
  std::map<std::uint64_t, Question> questions_;
  std::map<std::uint64_t, OpenPlan> plans_;  ///< by Plan::id
};

}  // namespace berth::live
