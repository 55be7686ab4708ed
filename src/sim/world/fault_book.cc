#include "sim/world/fault_book.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::sim {
namespace {

bool is_at_once(FaultKind kind) {
  return kind == FaultKind::kLose || kind == FaultKind::kReturn || kind == FaultKind::kClear;
}

/// The outcome of an action under a fault; nothing: the fault does not concern outcomes.
std::optional<ActionOutcome> end_under(FaultKind fault, ActionKind action) {
  if (fault == FaultKind::kReportsFailure) return ActionOutcome::kDoneButReportedFailed;
  const FaultKind failing = action == ActionKind::kCreation ? FaultKind::kFailCreate : FaultKind::kFailDestroy;
  return fault == failing ? std::optional(ActionOutcome::kFailed) : std::nullopt;
}

bool is_serving(const WaitingFault& fault) { return fault.order.kind == FaultKind::kServing; }

/// Whether `clear` ends this fault of serving.
bool ends_serving(const FaultOrder& clear, const WaitingFault& fault) {
  if (!is_serving(fault) || !clear.serving) return false;
  return !clear.serving->service || clear.serving->service == fault.order.serving->service;
}

/// Whether it waits for no GPU any more.
bool is_used_up(const WaitingFault& fault) { return !is_serving(fault) && fault.left.empty(); }

}  // namespace

void FaultBook::add(std::uint64_t id, const FaultOrder& order, Instant now) {
  ENSURE(!is_at_once(order.kind) && !is_full());
  WaitingFault fault{.id = id, .since = now, .order = order, .left = {}};
  for (const GpuId gpu : order.gpus) fault.left.emplace(gpu, order.times.value_or(INT64_MAX));
  faults_.push_back(std::move(fault));
}

std::vector<std::uint64_t> FaultBook::cleared_by(const FaultOrder& clear) const {
  std::vector<std::uint64_t> cleared;
  for (const WaitingFault& fault : faults_) {
    const auto goes = [&](const auto& left) { return std::ranges::binary_search(clear.gpus, left.first); };
    const bool is_cleared = is_serving(fault) ? ends_serving(clear, fault) : std::ranges::all_of(fault.left, goes);
    if (is_cleared) cleared.push_back(fault.id);
  }
  return cleared;
}

void FaultBook::clear(const FaultOrder& clear) {
  std::erase_if(faults_, [&](const WaitingFault& fault) { return ends_serving(clear, fault); });
  for (WaitingFault& fault : faults_) {
    std::erase_if(fault.left, [&](const auto& left) { return std::ranges::binary_search(clear.gpus, left.first); });
  }
  std::erase_if(faults_, is_used_up);
}

bool FaultBook::forget_service(ServiceId service) {
  const auto is_its = [&](const WaitingFault& fault) {
    return is_serving(fault) && fault.order.serving->service == service;
  };
  return std::erase_if(faults_, is_its) > 0;
}

const WaitingFault* FaultBook::serving_of(ServiceId service) const {
  const WaitingFault* latest = nullptr;
  for (const WaitingFault& fault : faults_) {
    if (is_serving(fault) && fault.order.serving->service == service) latest = &fault;
  }
  return latest;
}

bool FaultBook::has_serving() const { return std::ranges::any_of(faults_, is_serving); }

void FaultBook::forget_foreign(GpuId gpu) {
  for (WaitingFault& fault : faults_) {
    if (fault.order.kind == FaultKind::kForeignSlice) fault.left.erase(gpu);
  }
  std::erase_if(faults_, is_used_up);
}

std::optional<Micros> FaultBook::begin_action(GpuId gpu) {
  for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
    if (fault->order.kind != FaultKind::kSlow || !fault->left.contains(gpu)) continue;
    const Micros duration = fault->order.duration;
    use(fault, gpu);
    return duration;
  }
  return std::nullopt;
}

ActionOutcome FaultBook::end_action(GpuId gpu, ActionKind kind) {
  for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
    const auto end = end_under(fault->order.kind, kind);
    if (!end || !fault->left.contains(gpu)) continue;
    use(fault, gpu);
    return *end;
  }
  return ActionOutcome::kDone;
}

void FaultBook::use(std::vector<WaitingFault>::iterator fault, GpuId gpu) {
  if (!fault->order.times) return;
  is_used_ = true;
  const auto left = fault->left.find(gpu);
  if (--left->second > 0) return;
  fault->left.erase(left);
  if (fault->left.empty()) faults_.erase(fault);
}

}  // namespace berth::sim
