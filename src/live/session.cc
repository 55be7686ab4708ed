#include "live/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "engine/drain_stage.h"
#include "policy/registry.h"

namespace berth::live {
namespace {

ObjectName gpu_object(GpuId gpu) { return {.kind = ObjectKind::kGpu, .tenant = "", .name = gpu_name(gpu)}; }
ObjectName plan_object(std::uint64_t id) { return {.kind = ObjectKind::kPlan, .tenant = "", .name = plan_name(id)}; }

ObjectName slice_object(const Scenario& scenario, const Slice& slice) {
  return {.kind = ObjectKind::kGpuSlice, .tenant = "", .name = slice_name(scenario, slice)};
}

ObjectName service_object(const ServiceSpec& service) {
  return {.kind = ObjectKind::kGpuService, .tenant = service.tenant, .name = service.name};
}

/// The stages of the policy, and before them the one that drains.
std::vector<Stage> stages_of(const Scenario& scenario, const policy::Policy& row, const policy::Settings& settings) {
  std::vector<Stage> stages;
  stages.push_back(drain_stage(scenario, row.replans(settings)));
  for (Stage& stage : row.make({.scenario = scenario, .settings = settings}).stages) stages.push_back(std::move(stage));
  return stages;
}

}  // namespace

// ---- names

std::string gpu_name(GpuId gpu) { return fmt::format("gpu-{}", gpu.index); }

std::string slice_name(const Scenario& scenario, const Slice& slice) {
  return fmt::format("{}-{}-{}", gpu_name(slice.gpu), profile_name(scenario.model_of(slice.gpu), slice.profile),
                     slice.start);
}

std::string plan_name(std::uint64_t id) { return fmt::format("plan-{}", id); }

std::optional<GpuId> find_gpu(const Scenario& scenario, std::string_view name) {
  constexpr std::string_view kPrefix = "gpu-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool is_whole = error == std::errc() && end == name.data() + name.size();
  if (!is_whole || index >= scenario.gpu_count() || gpu_name({index}) != fmt::format("gpu-{}", name)) {
    return std::nullopt;
  }
  return GpuId{index};
}

// ---- the session

Result<std::unique_ptr<Session>> Session::make(Scenario scenario, SessionOptions options) {
  const policy::Policy* row = policy::find_policy(options.policy);
  if (row == nullptr || row->is_hindsight()) {
    return invalid(fmt::format("wanted a policy that can run live, found {}", options.policy));
  }
  return std::make_unique<Session>(std::move(scenario), std::move(options));
}

Session::Session(Scenario scenario, SessionOptions options)
    : scenario_(std::move(scenario)), options_(std::move(options)) {
  const policy::Policy& row = policy::policy_named(options_.policy);
  policy::Settings settings;
  settings.berth.has_end = options_.has_end;
  sim::LoopOptions loop;
  loop.seed = options_.seed;
  loop.is_strict = row.obeys_constraints;
  loop.world.sharing = row.sharings.front();
  loop.world.dispatch = row.dispatch;
  loop.world.is_endless = !options_.has_end;
  loop.journal = [this](const sim::JournalRecord& record) {
    if (options_.journal) options_.journal(record);
    note_record(record);
  };
  loop.observed = [this](const Event& event) { note_event(event); };
  loop.answered = [this](const StepAnswer& answer) { note_answer(answer); };
  loop.solve_elsewhere = options_.solve_elsewhere;
  loop_ = std::make_unique<sim::Loop>(
      scenario_, [this, &row, settings] { return stages_of(scenario_, row, settings); }, std::move(loop));
}

bool Session::advance(Instant until) {
  if (is_over() || loop_->next_stop() > until) return false;
  loop_->advance();
  return true;
}

void Session::schedule(GpuId gpu, GpuScheduling scheduling, std::string reason) {
  loop_->command(
      {.at = now(), .what = GpuScheduled{.gpu = gpu, .scheduling = scheduling, .reason = std::move(reason)}});
}

// ---- what is noted

void Session::append(Instant at, EventKind kind, ObjectName object, std::string message) {
  events_.append(at, kind, std::move(object), std::move(message));
}

void Session::note_record(const sim::JournalRecord& record) {
  const auto* slice = std::get_if<sim::SliceRecord>(&record);
  if (slice == nullptr) return;
  const auto kind = [&]() -> std::optional<EventKind> {
    switch (slice->event) {
      case sim::SliceEvent::kCreated:
        return EventKind::kSliceCreated;
      case sim::SliceEvent::kServing:
        return slice->role == Role::kInference ? std::optional(EventKind::kSliceServing) : std::nullopt;
      case sim::SliceEvent::kDestroyed:
      case sim::SliceEvent::kLost:
        return EventKind::kSliceGone;
      case sim::SliceEvent::kDraining:
      case sim::SliceEvent::kRetrainingStarted:
      case sim::SliceEvent::kRetrainingDone:
        return std::nullopt;
    }
    return std::nullopt;
  }();
  if (!kind) return;
  const std::string holder =
      slice->services.empty() ? "nobody's" : scenario_.services[slice->services.front().index].name;
  append(slice->at, *kind, slice_object(scenario_, slice->slice), holder);
}

void Session::note_event(const Event& event) {
  plans_.apply(event);
  std::visit(
      Overloaded{
          [&](const GpuLost& lost) { append(event.at, EventKind::kGpuLost, gpu_object(lost.gpu), lost.reason); },
          [&](const GpuReturned& returned) { append(event.at, EventKind::kGpuReturned, gpu_object(returned.gpu), ""); },
          [&](const GpuScheduled& scheduled) {
            const EventKind kind =
                scheduled.scheduling == GpuScheduling::kOpen ? EventKind::kGpuUncordoned : EventKind::kGpuCordoned;
            append(event.at, kind, gpu_object(scheduled.gpu), scheduled.reason);
          },
          [&](const RetrainingDue& due) {
            append(event.at, EventKind::kRetrainingDue, service_object(scenario_.services[due.service.index]), "");
          },
          [&](const RetrainingDone& done) {
            append(event.at, EventKind::kRetrainingDone, service_object(scenario_.services[done.service.index]), "");
          },
          [&](const SolveFinished& finished) { arrived_ = finished.solution->plan; },
          [](const auto&) {},
      },
      event.what);
}

void Session::note_answer(const StepAnswer& answer) {
  ++step_count_;
  if (!arrived_) return;
  const Plan arrived = *std::exchange(arrived_, std::nullopt);
  if (arrived.actions.empty()) return;
  plans_.add(arrived, answer, snapshot());
  const Instant now = snapshot().now;
  if (answer.refused) {
    append(now, EventKind::kPlanRefused, plan_object(arrived.id), *answer.refused);
    return;
  }
  append(now, EventKind::kPlanAccepted, plan_object(arrived.id),
         fmt::format("{} of {} actions", answer.plan.actions.size(), arrived.actions.size()));
  for (const DroppedPart& part : answer.dropped) {
    append(now, EventKind::kActionDropped, plan_object(arrived.id), part.why);
  }
}

}  // namespace berth::live
