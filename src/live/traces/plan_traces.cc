#include "live/traces/plan_traces.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "domain/values/node.h"
#include "live/session/object_names.h"

namespace berth::live {
namespace {

constexpr std::size_t kQuestionsMax = 64;  // a proposal may wait while others are asked and answered

void touch_services(const std::vector<ServiceId>& services, const Scenario& scenario, std::set<ObjectKey>& touched) {
  for (const ServiceId service : services) {
    if (service.index < scenario.services.size()) {
      touched.insert(ObjectKey(service_object(scenario.services[service.index])));
    }
  }
}

ObjectName node_object(NodeId node) { return {.kind = ObjectKind::kNode, .tenant = "", .name = node_name(node)}; }

/// The services, GPUs and nodes that the plan's actions are about: also those who had what it takes from them.
std::set<ObjectKey> touched_by(const PlanStatus& plan, const Snapshot& snapshot, const Scenario& scenario) {
  std::set<ObjectKey> touched;
  for (std::size_t index = 0; index < plan.plan->actions.size(); ++index) {
    if (plan.actions->phase(index) != ActionPhase::kRunning) continue;
    const SliceChange& what = plan.plan->actions[index].what;
    const Slice& slice = slice_of(what);
    if (touched.insert(ObjectKey(gpu_object(slice.gpu))).second) {
      touched.insert(ObjectKey(node_object(node_of(scenario, slice.gpu))));
    }
    if (const auto* assign = std::get_if<AssignSlice>(&what)) {
      touch_services(assign->holding.services, scenario, touched);
    }
    for (const StandingSlice& standing : snapshot.slices_at(slice)) {
      touch_services(standing.holding.services, scenario, touched);
    }
  }
  return touched;
}

std::string name_of(const PlanStatus& plan, std::size_t index, const Scenario& scenario) {
  const Slice& slice = slice_of(plan.plan->actions[index].what);
  const std::uint64_t generation = plan.actions->generation(index);
  return generation == 0 ? place_name(scenario, slice) : slice_name(scenario, slice, generation);
}

}  // namespace

// ---- writes

void PlanTraces::on_write(const WriteTrace& write, Instant now) {
  if (write.object) writes_.add(*write.object, write.context, now);
}

void PlanTraces::on_commit(const CommitTimes& times, bool has_orders, Instant now) {
  commit_ = times;
  if (!has_orders || !lone_ || lone_->commit) return;
  lone_->commit = times;
  on_write(*lone_, now);
}

// ---- plans

void PlanTraces::on_question(std::uint64_t question) {
  if (questions_.size() == kQuestionsMax) questions_.erase(questions_.begin());
  questions_[question] = {.asked_us = recorder_.now_us(), .last_write = writes_.last_number()};
}

void PlanTraces::on_solved(std::uint64_t question, double solve_ms) {
  const auto found = questions_.find(question);
  if (found == questions_.end()) return;
  const auto solve_us = static_cast<std::int64_t>(solve_ms * 1000);
  found->second.solved_us = std::min(found->second.asked_us + solve_us, recorder_.now_us());
}

void PlanTraces::on_plan(const PlanStatus& plan, const Snapshot& snapshot, const Scenario& scenario) {
  const std::optional<Question> question = take_question(plan.plan->id);
  auto span = begin(plan, touched_by(plan, snapshot, scenario), question, snapshot.now);
  if (!span) return;
  if (question && question->solved_us) {
    end_child(*span, "solve", {.begin_us = question->asked_us, .end_us = *question->solved_us});
  }
  if (commit_) end_child(*span, "journal.commit", *commit_);
  OpenPlan open{.span = std::move(*span), .running_count = plan.running_count};
  begin_actions(open, plan, scenario);
  if (open.running_count == 0) return end(std::move(open.span), recorder_.now_us(), "");
  keep(plan.plan->id, std::move(open));
}

std::optional<PlanTraces::Question> PlanTraces::take_question(std::uint64_t number) {
  const auto found = questions_.find(number);
  if (found == questions_.end()) return std::nullopt;
  return questions_.extract(found).mapped();
}

std::optional<Span> PlanTraces::begin(const PlanStatus& plan, const std::set<ObjectKey>& touched,
                                      const std::optional<Question>& question, Instant now) {
  const std::uint64_t last_write = question ? question->last_write : writes_.last_number();
  const std::vector<TraceContext> writes = writes_.take(touched, last_write, now);
  std::optional<Span> span = writes.empty() ? recorder_.begin(std::nullopt, true)
                                            : std::optional(child_of(writes.front(), recorder_.next_id()));
  if (!span) return std::nullopt;
  span->name = "plan";
  span->begin_us = question ? question->asked_us : recorder_.now_us();
  span->attributes = {{"berth.plan", plan_name(plan.plan->id)},
                      {"berth.plan.actions", static_cast<std::int64_t>(plan.running_count)},
                      {"berth.plan.ordered", plan.plan->is_ordered}};
  for (std::size_t i = 1; i < writes.size() && span->links.size() < kSpanLinksMax; ++i) {
    span->links.push_back({.trace = writes[i].trace, .span = writes[i].span});
  }
  return span;
}

void PlanTraces::end_child(const Span& parent, std::string name, const CommitTimes& times) {
  Span child = child_of(context_of(parent), recorder_.next_id());
  child.name = std::move(name);
  child.begin_us = times.begin_us;
  child.end_us = times.end_us;
  recorder_.end(std::move(child));
}

void PlanTraces::begin_actions(OpenPlan& open, const PlanStatus& plan, const Scenario& scenario) {
  const TraceContext parent = context_of(open.span);
  const std::int64_t now_us = recorder_.now_us();
  for (std::size_t index = 0; index < plan.plan->actions.size(); ++index) {
    if (open.actions.size() == kActionSpansMax) return;
    if (plan.actions->phase(index) != ActionPhase::kRunning) continue;
    const SliceChange& what = plan.plan->actions[index].what;
    Span span = child_of(parent, recorder_.next_id());
    span.name = "slice." + std::string(action_word(what));
    span.begin_us = now_us;
    span.attributes = {{"berth.action", static_cast<std::int64_t>(index + 1)},
                       {"berth.gpu", gpu_name(slice_of(what).gpu)},
                       {"berth.slice", name_of(plan, index, scenario)}};
    open.actions.emplace(index, std::move(span));
  }
}

void PlanTraces::keep(std::uint64_t id, OpenPlan open) {
  if (plans_.size() == kPlansMax) end_unfinished(std::move(plans_.extract(plans_.begin()).mapped()));
  plans_.insert_or_assign(id, std::move(open));
}

void PlanTraces::on_action(const PlanStatus& plan, const ActionChange& change) {
  const auto found = plans_.find(change.plan);
  if (found == plans_.end()) return;
  OpenPlan& open = found->second;
  const std::int64_t now_us = recorder_.now_us();
  if (auto action = open.actions.extract(change.action)) {
    Span& span = action.mapped();
    span.attributes.emplace_back("berth.outcome", std::string(word(change.phase)));
    end(std::move(span), now_us, change.phase == ActionPhase::kDone ? "" : change.message);
  }
  if (--open.running_count > 0) return;
  end(std::move(open.span), now_us, plan.message);
  plans_.erase(found);
}

void PlanTraces::end_all() {
  for (auto& [id, open] : plans_) end_unfinished(std::move(open));
  plans_.clear();
}

void PlanTraces::end_unfinished(OpenPlan open) {
  const std::int64_t now_us = recorder_.now_us();
  for (auto& [index, action] : open.actions) {
    action.attributes.emplace_back("berth.unfinished", true);
    end(std::move(action), now_us, "");
  }
  open.span.attributes.emplace_back("berth.unfinished", true);
  end(std::move(open.span), now_us, "");
}

void PlanTraces::end(Span span, std::int64_t now_us, const std::string& failure) {
  span.end_us = now_us;
  if (!failure.empty()) span.failure = failure;
  recorder_.end(std::move(span));
}

}  // namespace berth::live
