#include "ledger/books/detail/intake.h"

#include <algorithm>
#include <variant>

#include "base/core/ensure.h"

namespace berth::ledger::detail {

Verdict Intake::take(const EventLine& line) {
  const std::uint64_t hash = IdTable::hash_of(line.event.id);
  if (const auto repeated = find_repetition(line, hash)) {
    count(*repeated);
    return *repeated;
  }
  ids_.insert(hash, line.position);
  const Verdict verdict = std::visit([&](const auto& what) { return accept(line, what); }, line.event.what);
  count(verdict);
  if (verdict == Verdict::kAccepted && awaited_.find(line.event.id)) {
    take_back(line.event, line.position, line.number);
  }
  return verdict;
}

void Intake::count(Verdict verdict) {
  ++counts_.lines;
  switch (verdict) {
    case Verdict::kAccepted:
      ++counts_.accepted;
      return;
    case Verdict::kDuplicate:
      ++counts_.duplicates;
      return;
    case Verdict::kConflict:
      ++counts_.conflicts;
      return;
    case Verdict::kOverlap:
      ++counts_.overlaps;
      return;
    case Verdict::kClosed:
      ++counts_.refused_closed;
      return;
    case Verdict::kVoid:
      ++counts_.refused_void;
      return;
    case Verdict::kClose:
      ++counts_.refused_close;
      return;
  }
}

const Event& Intake::event_at(std::uint64_t position) {
  auto event = earlier_reader_.read(line_at_(position));
  ENSURE(event.has_value());  // it was read before
  return earlier_ = *std::move(event);
}

std::optional<Verdict> Intake::find_repetition(const EventLine& line, std::uint64_t hash) {
  bool is_same = false;
  const std::uint64_t found = ids_.find(hash, [&](std::uint64_t position) {
    is_same = line_at_(position) == line.text;
    if (is_same) return true;
    const Event& event = event_at(position);
    is_same = event == line.event;
    return event.id == line.event.id;
  });
  if (found == IdTable::kNowhere) return std::nullopt;
  return is_same ? Verdict::kDuplicate : Verdict::kConflict;
}

NameId Intake::gpu_numbered(std::string_view gpu) {
  const NameId number = gpu_names_.intern(gpu);
  if (number >= gpus_.size()) {
    gpus_.grow(number + 1);
    is_gpu_dirty_.resize(number + 1, false);
  }
  return number;
}

void Intake::note_dirty(NameId gpu) {
  if (is_gpu_dirty_[gpu]) return;
  is_gpu_dirty_[gpu] = true;
  dirty_gpus_.push_back(gpu);
}

Verdict Intake::accept(const EventLine& /*line*/, const PriceEvent& price) {
  const NameId sku = sku_names_.intern(price.sku);
  if (prices_.has_price_from(sku, price.from_us)) return Verdict::kConflict;
  if (!closings_.empty() && price.from_us < closings_.back().month.end_us()) return Verdict::kClosed;
  prices_.insert(sku, {.from_us = price.from_us, .micro_usd_per_gpu_hour = price.micro_usd_per_gpu_hour});
  return Verdict::kAccepted;
}

Verdict Intake::accept(const EventLine& line, const GpuEvent& gpu) {
  const NameId number = gpu_numbered(gpu.gpu);
  const NameId sku = sku_names_.intern(gpu.sku);
  const PaidRecord record{.when = gpu.when,
                          .position = line.position,
                          .capacity = gpu.capacity,
                          .sku = sku,
                          .idle_holder = holders_.intern(gpu.owner.value_or(""), "", Role::kIdle)};
  if (!gpus_[number].accept(record)) return Verdict::kOverlap;
  if (sku >= sku_gpus_.size()) sku_gpus_.resize(sku + 1);
  if (sku_gpus_[sku].empty() || sku_gpus_[sku].back() != number) sku_gpus_[sku].push_back(number);
  note_dirty(number);
  return Verdict::kAccepted;
}

Verdict Intake::accept(const EventLine& line, const UseEvent& use) {
  const NameId number = gpu_numbered(use.gpu);
  const UseRecord record{.when = use.when,
                         .position = line.position,
                         .weight = static_cast<std::int32_t>(use.weight),
                         .holder = holders_.intern(use.tenant, use.service, use.role),
                         .slice = slice_names_.intern(use.slice)};
  const bool is_accepted = gpus_[number].accept(record);
  note_dirty(number);  // days before one with an overlap were changed and changed back
  return is_accepted ? Verdict::kAccepted : Verdict::kOverlap;
}

Verdict Intake::accept(const EventLine& line, const CreditEvent& credit) {
  credit_positions_.push_back(line.position);
  credits_.push_back({.id = std::string(line.event.id),
                      .tenant = std::string(credit.tenant),
                      .at_us = credit.at_us,
                      .micro_usd = credit.micro_usd,
                      .reason = credit.reason,
                      .expires_us = credit.expires_us,
                      .line = line.number,
                      .voided_line = std::nullopt});
  return Verdict::kAccepted;
}

Verdict Intake::accept(const EventLine& line, const BudgetEvent& budget) {
  if (!budget_starts_.emplace(budget.tenant, budget.from_us).second) return Verdict::kConflict;
  budgets_.emplace(line.position, Budget{.tenant = std::string(budget.tenant),
                                         .from_us = budget.from_us,
                                         .micro_usd_per_month = budget.micro_usd_per_month,
                                         .is_hard = budget.is_hard});
  return Verdict::kAccepted;
}

Verdict Intake::accept(const EventLine& line, const RateEvent& rate) {
  if (!rate_starts_.emplace(rate.currency, rate.from_us).second) return Verdict::kConflict;
  rates_.push_back({.currency = std::string(rate.currency),
                    .from_us = rate.from_us,
                    .micro_per_usd = rate.micro_per_usd,
                    .line = line.number});
  return Verdict::kAccepted;
}

Verdict Intake::accept(const EventLine& line, const VoidEvent& voiding) {
  const std::uint64_t position = ids_.find(IdTable::hash_of(voiding.of),
                                           [&](std::uint64_t earlier) { return event_at(earlier).id == voiding.of; });
  if (position == IdTable::kNowhere) {
    (void)awaited_.intern(voiding.of);
    return Verdict::kAccepted;
  }
  const Event& target = event_at(position);
  const bool can_be_voided =
      std::holds_alternative<UseEvent>(target.what) || std::holds_alternative<GpuEvent>(target.what) ||
      std::holds_alternative<CreditEvent>(target.what) || std::holds_alternative<BudgetEvent>(target.what);
  if (!can_be_voided) return Verdict::kVoid;
  take_back(target, position, line.number);
  return Verdict::kAccepted;
}

Verdict Intake::accept(const EventLine& line, const CloseEvent& closing) {
  if (!closings_.empty() && closing.month != closings_.back().month.next()) return Verdict::kClose;
  closings_.push_back({.month = closing.month, .line = line.number});
  return Verdict::kAccepted;
}

void Intake::take_back(const Event& event, std::uint64_t position, std::uint64_t line) {
  if (take_back_what(event, position, line)) ++counts_.voided;
}

bool Intake::take_back_what(const Event& event, std::uint64_t position, std::uint64_t line) {
  if (const auto* use = std::get_if<UseEvent>(&event.what)) {
    const NameId gpu = gpu_numbered(use->gpu);
    const auto slice = slice_names_.find(use->slice);
    if (!slice || !gpus_[gpu].take_back_use(*slice, use->when.from_us, position)) return false;
    note_dirty(gpu);
    return true;
  }
  if (const auto* paid = std::get_if<GpuEvent>(&event.what)) {
    const NameId gpu = gpu_numbered(paid->gpu);
    if (!gpus_[gpu].take_back_paid(paid->when.from_us, position)) return false;
    note_dirty(gpu);
    return true;
  }
  if (std::holds_alternative<CreditEvent>(event.what)) {
    const auto found = std::ranges::lower_bound(credit_positions_, position);
    if (found == credit_positions_.end() || *found != position) return false;
    Credit& credit = credits_[static_cast<std::size_t>(found - credit_positions_.begin())];
    if (credit.voided_line) return false;
    credit.voided_line = line;
    return true;
  }
  return std::holds_alternative<BudgetEvent>(event.what) && take_back_budget(position);
}

bool Intake::take_back_budget(std::uint64_t position) {
  const auto found = budgets_.find(position);
  if (found == budgets_.end()) return false;
  budget_starts_.erase({found->second.tenant, found->second.from_us});
  budgets_.erase(found);
  return true;
}

void Intake::restore(std::string_view ids, std::span<const std::string_view> gpus) {
  ids_.restore(ids);
  for (const std::string_view gpu : gpus) gpus_.restore(gpu);
  is_gpu_dirty_.resize(gpus.size(), false);
}

std::vector<NameId> Intake::take_dirty_gpus() {
  for (const PriceBook::Change& change : prices_.take_changes()) {
    if (change.sku >= sku_gpus_.size()) continue;
    for (const NameId gpu : sku_gpus_[change.sku]) {
      gpus_[gpu].touch_paid(change.sku, change.when);
      note_dirty(gpu);
    }
  }
  for (const NameId gpu : dirty_gpus_) is_gpu_dirty_[gpu] = false;
  return std::exchange(dirty_gpus_, {});
}

}  // namespace berth::ledger::detail
