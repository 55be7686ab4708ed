#include "live/session/testing/auditor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <variant>

#include "base/core/ensure.h"
#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"

namespace berth::live::testing {
namespace {

constexpr std::size_t kFindingsMax = 20;

std::int64_t number_in(std::string_view digits) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  ENSURE(error == std::errc() && end == digits.data() + digits.size());
  return number;
}

std::string_view without_prefix(std::string_view text, std::string_view prefix) {
  ENSURE(text.starts_with(prefix));
  return text.substr(prefix.size());
}

}  // namespace

// ---- the journal: existing slices and their services

void Auditor::read(const sim::JournalRecord& record) {
  const auto* slice = std::get_if<world::SliceRecord>(&record);
  if (slice == nullptr) return;
  pass_to(slice->at);
  const auto standing = standing_.find(slice->slice);
  if (slice->event == world::SliceEvent::kCreated) {
    if (standing != standing_.end()) found("layout: a slice is created where the same one stands");
    standing_[slice->slice] = {};
    return check_layout(slice->slice.gpu, slice->at);
  }
  if (standing == standing_.end()) return found("layout: news of a slice that does not stand");
  switch (slice->event) {
    case world::SliceEvent::kDestroyed:
    case world::SliceEvent::kLost:
      standing_.erase(standing);
      break;
    case world::SliceEvent::kServing:
      read_serving(*slice);
      break;
    case world::SliceEvent::kDraining:
      standing->second.clear();
      break;
    case world::SliceEvent::kCreated:
    case world::SliceEvent::kRetrainingStarted:
    case world::SliceEvent::kRetrainingDone:
      break;
  }
}

void Auditor::read_serving(const world::SliceRecord& record) {
  std::vector<ServiceId>& owners = standing_[record.slice];
  if (record.services.size() > 1) found("owners: a slice serves two services");
  if (!owners.empty() && owners != record.services) found("owners: a slice serves another service undrained");
  owners = record.services;
}

void Auditor::check_layout(GpuId gpu, Instant at) {
  const std::set<Slice> all = standing();
  mig::State state;
  std::int64_t full_count = 0;
  for (const Slice& slice : all) {
    if (slice.gpu != gpu) continue;
    if (slice.profile.is_full()) ++full_count;
    if (!slice.profile.is_full()) state.push_back({.start = slice.start, .profile = slice.profile});
  }
  if (full_count > 1 || (full_count == 1 && !state.empty())) found("layout: a whole GPU beside other slices");
  if (const auto clash = mig::find_clash(scenario_.model_of(gpu), state)) {
    found(fmt::format("layout: GPU {} at {} us: {}", gpu.index, at.micros(), *clash));
  }
}

std::set<Slice> Auditor::standing() const {
  std::set<Slice> all = foreign_;
  for (const auto& [slice, owners] : standing_) all.insert(slice);
  return all;
}

// ---- the events

void Auditor::read(const LoggedEvent& event) {
  if (event.sequence != last_sequence_ + 1) found(fmt::format("order: event {} is missing", last_sequence_ + 1));
  last_sequence_ = event.sequence;
  pass_to(event.at);
  ++counts_[event.kind];
  switch (event.object.kind) {
    case ObjectKind::kGpuSlice:
      return read_slice(event);
    case ObjectKind::kGpu:
      return read_gpu(event);
    case ObjectKind::kPlan:
      return read_plan(event);
    case ObjectKind::kPlanning:
      is_paused_ = event.kind == EventKind::kPlanningPaused;
      return;
    case ObjectKind::kTenant:
    case ObjectKind::kGpuService:
    case ObjectKind::kNode:
    case ObjectKind::kFault:
      return;
  }
}

void Auditor::read_slice(const LoggedEvent& event) {
  const Slice slice = slice_of(event.object.name);
  gpu(slice.gpu).last_news = event.at;
  if (event.kind == EventKind::kSliceForeign) {
    if (!foreign_.insert(slice).second) found("layout: a slice of others is seen twice");
    check_layout(slice.gpu, event.at);
  } else if (event.kind == EventKind::kSliceGone) {
    foreign_.erase(slice);
  }
}

void Auditor::read_gpu(const LoggedEvent& event) {
  const GpuId id = gpu_of(event.object.name);
  AuditedGpu& audited = gpu(id);
  audited.last_news = event.at;
  switch (event.kind) {
    case EventKind::kGpuLost:
      if (audited.open_count > 0) found("stuck: an action outlives the loss of " + event.object.name);
      audited.is_lost = true;
      std::erase_if(foreign_, [&](const Slice& slice) { return slice.gpu == id; });
      return;
    case EventKind::kGpuReturned:
      audited.is_lost = false;
      return;
    case EventKind::kGpuCordoned:
    case EventKind::kGpuDrained:
      audited.is_closed = true;
      return;
    case EventKind::kGpuUncordoned:
      audited.is_closed = false;
      return;
    default:
      return;
  }
}

void Auditor::read_plan(const LoggedEvent& event) {
  const std::string& name = event.object.name;
  switch (event.kind) {
    case EventKind::kPlanProposed:
      if (!plans_.try_emplace(name).second) found("order: a second proposal of " + name);
      return;
    case EventKind::kPlanApproved:
      if (plans_[name].stage != PlanStage::kProposed) found("approval: too late for " + name);
      plans_[name].is_approved = true;
      return;
    case EventKind::kPlanAccepted:
      if (plans_[name].stage != PlanStage::kProposed) found("order: accepted after its end, " + name);
      plans_[name].stage = PlanStage::kAccepted;
      return;
    case EventKind::kPlanRefused:
    case EventKind::kPlanExpired:
    case EventKind::kPlanSuperseded:
      if (plans_[name].stage != PlanStage::kProposed) found("order: a second end of " + name);
      plans_[name].stage = PlanStage::kOver;
      return;
    case EventKind::kActionIntended:
      return read_intent(event);
    case EventKind::kActionDone:
    case EventKind::kActionFailed:
    case EventKind::kActionDropped:
      return read_action_end(event);
    default:
      return;
  }
}

void Auditor::read_intent(const LoggedEvent& event) {
  const ActionWords action = action_of(event.message);
  check_intent(event, action);
  AuditedGpu& audited = gpu(action.slice.gpu);
  audited.last_news = event.at;
  ++audited.open_count;
  const RunningAction running{.gpu = action.slice.gpu, .since = event.at};
  const bool is_new = running_.emplace(ActionKey(event.object.name, action.number), running).second;
  if (!is_new) found("order: an action begins twice, " + event.message);
}

void Auditor::check_intent(const LoggedEvent& event, const ActionWords& action) {
  const std::string what = event.object.name + ", " + event.message;
  const AuditedPlan& plan = plans_[event.object.name];
  const AuditedGpu& audited = gpu(action.slice.gpu);
  if (plan.stage != PlanStage::kAccepted) found("order: its plan is not accepted, " + what);
  if (is_in_frozen_window(event.at)) found("frozen: " + what);
  if (is_paused_) found("paused: " + what);
  if (audited.is_lost) found("closed: a lost GPU, " + what);
  if (audited.is_closed && action.verb != "destroy") found("closed: " + what);
  check_approval(event, plan, audited);
}

/// The first layout, at second 0, needs no approval.
void Auditor::check_approval(const LoggedEvent& event, const AuditedPlan& plan, const AuditedGpu& audited) {
  if (event.at == Instant() && !plan.is_approved) return;
  const bool is_needed =
      rules_.approval == Approval::kAlways || (rules_.approval == Approval::kFirst && !audited.was_changed);
  if (is_needed && !plan.is_approved) found("approval: none for " + event.object.name + ", " + event.message);
  gpu(action_of(event.message).slice.gpu).was_changed = true;
}

/// An action that never began may end only as dropped; one that failed has a second event, about its slice.
void Auditor::read_action_end(const LoggedEvent& event) {
  const ActionWords action = action_of(event.message);
  const auto running = running_.find({event.object.name, action.number});
  if (running == running_.end()) {
    if (event.kind != EventKind::kActionDropped)
      found("order: the end of an action that does not run, " + event.message);
    return;
  }
  AuditedGpu& audited = gpu(running->second.gpu);
  audited.last_news = event.at;
  --audited.open_count;
  running_.erase(running);
}

// ---- time

void Auditor::pass_to(Instant at) {
  if (at < now_) found(fmt::format("order: time goes back from {} to {} us", now_.micros(), at.micros()));
  now_ = std::max(now_, at);
  const auto restart = restarts_.upper_bound(at);
  const Instant restarted_at = restart == restarts_.begin() ? Instant() : *std::prev(restart);
  for (auto& [id, audited] : gpus_) {
    const Micros silent = at - std::max(audited.last_news, restarted_at);
    const bool is_stuck = audited.open_count > 0 && silent > rules_.stuck_after;
    if (is_stuck && !audited.is_stuck) found(fmt::format("stuck: GPU {} at {} us", id.index, at.micros()));
    audited.is_stuck = is_stuck;
  }
}

void Auditor::reach(Instant now) { pass_to(now); }

void Auditor::finish() {
  for (const auto& [key, running] : running_)
    found(fmt::format("stuck: action {} of {} never ends", key.second, key.first));
}

std::vector<std::string> Auditor::find_lasting(Micros at_most) const {
  std::vector<std::string> lasting;
  for (const auto& [key, running] : running_) {
    if (now_ - running.since <= at_most) continue;
    lasting.push_back(fmt::format("stuck: action {} of {} has been under way since {} us", key.second, key.first,
                                  running.since.micros()));
  }
  return lasting;
}

bool Auditor::is_in_frozen_window(Instant at) const {
  if (at == Instant()) return false;  // the first layout
  const auto holds = [at](const FrozenWindow& each) { return each.from <= at && at < each.until; };
  return std::ranges::any_of(scenario_.frozen, holds) || end_of_window(scenario_.no_changes, at).has_value();
}

// ---- words

GpuId Auditor::gpu_of(std::string_view gpu_name) const {
  return {static_cast<std::uint32_t>(number_in(without_prefix(gpu_name, "gpu-")))};
}

Slice Auditor::slice_of(std::string_view slice_name) const {
  const std::size_t gpu_end = slice_name.find('-', std::string_view("gpu-").size());
  ENSURE(gpu_end != std::string_view::npos);
  const std::size_t profile_end = slice_name.find('-', gpu_end + 1);
  ENSURE(profile_end != std::string_view::npos);
  const GpuId gpu = gpu_of(slice_name.substr(0, gpu_end));
  const std::string_view profile = slice_name.substr(gpu_end + 1, profile_end - gpu_end - 1);
  const std::string_view rest = slice_name.substr(profile_end + 1);  // the start, followed by the generation
  const auto start = static_cast<int>(number_in(rest.substr(0, rest.find('-'))));
  if (profile == kFullProfileName) return {.gpu = gpu, .start = start, .profile = ProfileId::full()};
  const auto known = mig::find_profile(scenario_.model_of(gpu), profile);
  ENSURE(known.has_value());
  return {.gpu = gpu, .start = start, .profile = *known};
}

Auditor::ActionWords Auditor::action_of(std::string_view message) const {
  const std::string_view text = without_prefix(message, "action ");
  const std::size_t colon = text.find(": ");
  ENSURE(colon != std::string_view::npos);
  const std::string_view what = text.substr(colon + 2);
  const std::size_t space = what.find(' ');
  ENSURE(space != std::string_view::npos);
  const std::string_view slice = what.substr(space + 1);
  return {.number = number_in(text.substr(0, colon)),
          .verb = what.substr(0, space),
          .slice = slice_of(slice.substr(0, slice.find(':')))};
}

void Auditor::found(std::string what) {
  if (findings_.size() < kFindingsMax) findings_.push_back(std::move(what));
}

std::int64_t Auditor::count(EventKind kind) const {
  const auto known = counts_.find(kind);
  return known == counts_.end() ? 0 : known->second;
}

}  // namespace berth::live::testing
