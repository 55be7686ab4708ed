#include "apps/up/follow_traces.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/up/up_parts.h"
#include "edges/otlp/telemetry.h"
#include "live/session/session.h"
#include "live/traces/plan_traces.h"

namespace berth::up {
namespace {

/// Records through `record`, and notes when.
std::optional<std::string> record_in_time(UpParts& parts, const std::vector<live::Entry>& entries) {
  live::CommitTimes times{.begin_us = parts.spans.now_us()};
  auto failure = parts.recorder().record(entries);
  times.end_us = parts.spans.now_us();
  if (!failure) parts.traces->on_commit(times, !entries.empty(), parts.session->now());
  return failure;
}

}  // namespace

void make_traces(UpParts& parts) {
  if (parts.telemetry == nullptr) return;
  parts.spans = parts.telemetry->recorder();
  if (parts.spans) parts.traces = std::make_unique<live::PlanTraces>(parts.spans);
}

void follow_plans(UpParts& parts, live::SessionListener& listener) {
  if (!parts.traces) return;
  listener.record = [&parts](const std::vector<live::Entry>& entries) { return record_in_time(parts, entries); };
  listener.question = [&parts](SolveRequest question) {
    parts.traces->on_question(question.question);
    parts.solver.ask(std::move(question));
  };
  listener.event = [&parts](const Event& event) {
    const auto* finished = std::get_if<SolveFinished>(&event.what);
    if (finished != nullptr) parts.traces->on_solved(finished->question, parts.solver.last_solve_ms());
  };
  listener.plan_acts = [&parts](const live::PlanStatus& plan, const Snapshot& snapshot) {
    parts.traces->on_plan(plan, snapshot, parts.session->scenario());
  };
  listener.action_ended = [&parts](const live::PlanStatus& plan, const live::ActionChange& change) {
    parts.traces->on_action(plan, change);
  };
}

edges::WriteTracing write_tracing(UpParts& parts) {
  if (!parts.traces) return {};
  return {.now_us = parts.spans.now_us,
          .recorded = [&parts](const live::WriteTrace& write) { parts.traces->on_write(write, parts.session->now()); },
          .lone = [&parts](std::shared_ptr<live::WriteTrace> write) { parts.traces->set_lone(std::move(write)); }};
}

}  // namespace berth::up
