#include "ledger/billing/focus.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/ensure.h"

namespace berth::ledger {
namespace {

AllocatedMethod method_of(Role role) {
  switch (role) {
    case Role::kIdle:
      return AllocatedMethod::kIdleRemainder;
    case Role::kShared:
      return AllocatedMethod::kSharedByCost;
    case Role::kInference:
    case Role::kJob:
    case Role::kReconfiguration:
    case Role::kReserved:
    case Role::kRetraining:
    case Role::kStranded:
      return AllocatedMethod::kWeightShare;
  }
  ENSURE(false);
}

std::string description_of(const InvoiceLine& line) {
  const RowKey& key = line.row.key;
  std::string text(name_of(line.shared_role == Role::kShared ? key.role : line.shared_role));
  if (!key.service.empty()) text += " of " + key.service;
  text += " on " + key.sku;
  if (key.role == Role::kShared) text = "share of " + text;
  return key.of ? text + ", correction of " + key.of->to_string() : text;
}

FocusLine usage_line(const InvoiceLine& line, Month month) {
  const RowKey& key = line.row.key;
  FocusUsage usage{.sku = key.sku,
                   .gpu_us = line.row.amount.gpu_us,
                   .is_correction = key.of.has_value(),
                   .method = method_of(key.role),
                   .tags = {{"service", key.service}, {"role", std::string(name_of(key.role))}}};
  if (key.role == Role::kShared) usage.tags.emplace_back("shared_role", name_of(line.shared_role));
  return {.tenant = key.tenant,
          .micro_usd = line.row.micro_usd,
          .charge_month = key.of.value_or(month),
          .description = description_of(line),
          .usage = std::move(usage)};
}

FocusLine credit_line(const AppliedCredit& applied, Month month) {
  const Credit& credit = *applied.credit;
  return {.tenant = credit.tenant,
          .micro_usd = -applied.micro_usd,
          .charge_month = month,
          .description = fmt::format("{} credit {}", name_of(credit.reason), credit.id),
          .credit_id = credit.id};
}

}  // namespace

std::string_view name_of(AllocatedMethod method) {
  switch (method) {
    case AllocatedMethod::kWeightShare:
      return "weight-share";
    case AllocatedMethod::kIdleRemainder:
      return "idle-remainder";
    case AllocatedMethod::kSharedByCost:
      return "shared-by-cost";
  }
  ENSURE(false);
}

std::vector<FocusLine> focus_lines(const MonthCharges& charges) {
  std::vector<FocusLine> lines;
  lines.reserve(charges.lines.size() + charges.credits.size());
  for (const InvoiceLine& line : charges.lines) lines.push_back(usage_line(line, charges.month));
  for (const AppliedCredit& credit : charges.credits) lines.push_back(credit_line(credit, charges.month));
  return lines;
}

}  // namespace berth::ledger
