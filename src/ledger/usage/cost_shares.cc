#include "ledger/usage/cost_shares.h"

#include <algorithm>

#include "ledger/usage/detail/cell_uses.h"

namespace berth::ledger {
namespace {

constexpr std::string_view kForeign = "foreign";

std::vector<CostShare> divided(const Scenario& fleet, GpuId gpu, std::span<const live::UsagePart> parts) {
  std::vector<live::UsageInterval> intervals;
  intervals.reserve(parts.size());
  for (const live::UsagePart& part : parts) {
    intervals.push_back({.gpu = gpu, .what = {.part = part, .from = Instant(), .sequence = 0}, .to = Instant(1)});
  }
  detail::UsageCell cell{.gpu = gpu, .from = Instant(), .to = Instant(1), .parts = {}};
  for (const live::UsageInterval& interval : intervals) cell.parts.push_back(&interval);
  const auto uses = detail::uses_of(cell, fleet);
  if (!uses) return {};
  std::int64_t used = 0;
  for (const detail::CellUse& use : uses->uses) used += use.weight;
  // Legal layouts may weigh more than the capacity (ledger/weights).
  const std::int64_t whole = std::max(uses->capacity, used);
  std::vector<CostShare> shares;
  for (const detail::CellUse& use : uses->uses) {
    const auto part = static_cast<std::size_t>(use.of - intervals.data());
    const bool is_held = use.role == Role::kInference || use.role == Role::kRetraining;
    const auto holder = static_cast<std::size_t>(std::max(0, use.holder - 1));
    shares.push_back({.role = use.role,
                      .weight = use.weight,
                      .whole = whole,
                      .part = part,
                      .holder = is_held ? std::optional(holder) : std::nullopt});
  }
  if (used < uses->capacity) {
    shares.push_back({.role = Role::kIdle, .weight = uses->capacity - used, .whole = whole});
  }
  return shares;
}

}  // namespace

const std::vector<CostShare>& CostShares::of(GpuId gpu, std::span<const live::UsagePart> parts) {
  Form form;
  form.reserve(1 + parts.size() * 8);
  form.push_back(static_cast<std::int32_t>(&fleet_.entry_of(gpu) - fleet_.fleet.data()));
  for (const live::UsagePart& part : parts) {
    form.insert(form.end(), {part.start, part.units, static_cast<std::int32_t>(part.state),
                             static_cast<std::int32_t>(part.role), static_cast<std::int32_t>(part.holders.size()),
                             part.holders.empty() ? -1 : static_cast<std::int32_t>(part.holders.front().name.empty()),
                             part.slice ? part.slice->start : -1, part.slice ? part.slice->profile.index : -1});
  }
  if (const auto known = known_.find(form); known != known_.end()) return known->second;
  if (known_.size() >= kFormsMax) known_.clear();
  return known_.emplace(std::move(form), divided(fleet_, gpu, parts)).first->second;
}

std::string_view CostShares::payer(const CostShare& share, std::span<const live::UsagePart> parts) {
  if (share.role == Role::kReserved) {
    const auto& holders = parts[share.part].holders;
    return holders.empty() ? kForeign : std::string_view(holders.front().tenant);
  }
  return share.holder ? std::string_view(parts[share.part].holders[*share.holder].tenant) : std::string_view();
}

}  // namespace berth::ledger
