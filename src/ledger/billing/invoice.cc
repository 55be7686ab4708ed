#include "ledger/billing/invoice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/proportion.h"
#include "base/core/text.h"
#include "ledger/billing/month_hash.h"

namespace berth::ledger {
namespace {

constexpr std::int64_t kMicrosPerUnit = 1'000'000;

bool is_nobodys(const Row& row) { return row.key.tenant.empty(); }

/// Who pays for a sku in a month, by the bytes of their names.
struct Payers {
  std::vector<std::string> names;
  std::vector<Int128> micro_usd;  ///< what each pays for it directly, above 0
};

std::map<std::string, Payers> payers_by_sku(const MonthRows& month) {
  std::map<std::pair<std::string, std::string>, MicroUsd> sums;  // by sku and tenant
  for (const Row& row : month.rows) {
    if (!is_nobodys(row)) sums[{row.key.sku, row.key.tenant}] += row.micro_usd;
  }
  std::map<std::string, Payers> payers;
  for (const auto& [key, micro_usd] : sums) {
    if (micro_usd <= 0) continue;
    Payers& of_sku = payers[key.first];
    of_sku.names.push_back(key.second);
    of_sku.micro_usd.push_back(micro_usd);
  }
  return payers;
}

/// Divides a row without a tenant among its payers, and adds the parts to their lines.
void share(const Row& row, const Payers& payers, LinesByTenant& lines) {
  const auto gpu_us = split_in_proportion(row.amount.gpu_us, payers.micro_usd);
  const auto grains = split_in_proportion(row.amount.grains, payers.micro_usd);
  const auto micro_usd = split_in_proportion(row.micro_usd, payers.micro_usd);
  for (std::size_t i = 0; i < payers.names.size(); ++i) {
    if (grains[i] == 0 && micro_usd[i] == 0) continue;
    InvoiceLine line{.row = row, .shared_role = row.key.role};
    line.row.key.tenant = payers.names[i];
    line.row.key.role = Role::kShared;
    line.row.amount = {.gpu_us = gpu_us[i], .grains = grains[i]};
    line.row.micro_usd = line.micro = micro_usd[i];
    lines[payers.names[i]].push_back(std::move(line));
  }
}

bool is_before_line(const InvoiceLine& a, const InvoiceLine& b) {
  if (a.row.key != b.row.key) return is_before(a.row.key, b.row.key);
  return name_of(a.shared_role) < name_of(b.shared_role);
}

MicroUsd sum_of(const std::vector<InvoiceLine>& lines) {
  MicroUsd sum = 0;
  for (const InvoiceLine& line : lines) sum += line.row.micro_usd;
  return sum;
}

/// Converts lines and credits to the currency, so that they sum to the total.
void convert(Invoice& invoice, std::int64_t micro_per_usd) {
  std::vector<WholeQuotient> quotients;
  quotients.reserve(invoice.lines.size() + invoice.credits.size());
  for (const InvoiceLine& line : invoice.lines) {
    quotients.push_back(multiply_divide(line.row.micro_usd, micro_per_usd, kMicrosPerUnit));
  }
  for (const AppliedCredit& credit : invoice.credits) {
    quotients.push_back(multiply_divide(-credit.micro_usd, micro_per_usd, kMicrosPerUnit));
  }
  invoice.total_micro = multiply_divide_half_even(invoice.total_micro_usd, micro_per_usd, kMicrosPerUnit);
  const auto parts = by_largest_remainder(invoice.total_micro, quotients);
  std::size_t at = 0;
  for (InvoiceLine& line : invoice.lines) line.micro = parts[at++];
  for (AppliedCredit& credit : invoice.credits) credit.micro = -parts[at++];
}

}  // namespace

std::string_view name_of(IdleRule rule) {
  switch (rule) {
    case IdleRule::kKeep:
      return "keep";
    case IdleRule::kProportional:
      return "proportional";
  }
  ENSURE(false);
}

LinesByTenant lines_by_tenant(const MonthRows& month, IdleRule idle) {
  LinesByTenant lines;
  std::map<std::string, Payers> payers;
  if (idle == IdleRule::kProportional) payers = payers_by_sku(month);
  for (const Row& row : month.rows) {
    const auto of_sku = is_nobodys(row) ? payers.find(row.key.sku) : payers.end();
    if (of_sku == payers.end()) {
      lines[row.key.tenant].push_back({.row = row, .micro = row.micro_usd});
    } else {
      share(row, of_sku->second, lines);
    }
  }
  for (auto& [tenant, list] : lines) std::ranges::sort(list, is_before_line);
  return lines;
}

Invoicing::Invoicing(const Books& books, const Report& report) : books_(books), report_(report) {
  for (const Credit& credit : books.credits()) credits_[credit.tenant].push_back(&credit);
}

bool Invoicing::is_closed(Month month) const {
  const auto last_closed = books_.last_closed();
  return last_closed && month <= *last_closed;
}

bool Invoicing::is_known(Month month, std::uint64_t line) const {
  return !is_closed(month) || line < books_.close_line(month);
}

std::vector<const Credit*> Invoicing::usable_credits(Month month, const std::string& tenant) const {
  std::vector<const Credit*> usable;
  const auto found = credits_.find(tenant);
  if (found == credits_.end()) return usable;
  for (const Credit* credit : found->second) {
    const bool is_voided = credit->voided_line && is_known(month, *credit->voided_line);
    const bool is_expired = credit->expires_us && *credit->expires_us <= month.begin_us();
    if (!is_known(month, credit->line) || is_voided || is_expired) continue;
    if (credit->at_us < month.end_us()) usable.push_back(credit);
  }
  std::ranges::sort(usable, [](const Credit* a, const Credit* b) {
    const auto order = [](const Credit& credit) {
      constexpr auto kNever = std::numeric_limits<std::int64_t>::max();
      return std::tuple<std::int64_t, std::int64_t, const std::string&>(credit.expires_us.value_or(kNever),
                                                                        credit.at_us, credit.id);
    };
    return order(*a) < order(*b);
  });
  return usable;
}

std::vector<AppliedCredit> Invoicing::apply_credits(Month month, const std::string& tenant,
                                                    const std::vector<InvoiceLine>& lines,
                                                    std::map<const Credit*, MicroUsd>& used) const {
  std::vector<AppliedCredit> applied;
  MicroUsd due = sum_of(lines);
  if (due <= 0) return applied;
  for (const Credit* credit : usable_credits(month, tenant)) {
    const MicroUsd left = credit->micro_usd - used[credit];
    const MicroUsd taken = std::min(due, left);
    if (taken <= 0) continue;
    used[credit] += taken;
    due -= taken;
    applied.push_back({.credit = credit, .micro_usd = taken, .left_micro_usd = left - taken, .micro = taken});
  }
  return applied;
}

std::vector<AppliedCredit> Invoicing::unused_credits(const Invoice& invoice,
                                                     const std::map<const Credit*, MicroUsd>& used) const {
  std::vector<AppliedCredit> unused;
  for (const Credit* credit : usable_credits(invoice.request.month, invoice.request.tenant)) {
    if (std::ranges::find(invoice.credits, credit, &AppliedCredit::credit) != invoice.credits.end()) continue;
    const auto found = used.find(credit);
    const MicroUsd left = credit->micro_usd - (found == used.end() ? 0 : found->second);
    if (left > 0) unused.push_back({.credit = credit, .left_micro_usd = left});
  }
  return unused;
}

std::optional<std::int64_t> Invoicing::rate_of(Month month, const std::string& currency) const {
  const Rate* last = nullptr;
  for (const Rate& rate : books_.rates()) {
    const bool counts = rate.currency == currency && rate.from_us < month.end_us() && is_known(month, rate.line);
    if (counts && (last == nullptr || rate.from_us > last->from_us)) last = &rate;
  }
  return last == nullptr ? std::nullopt : std::optional(last->micro_per_usd);
}

Result<Invoice> Invoicing::invoice(const InvoiceRequest& request) const {
  Invoice invoice{.request = request,
                  .is_closed = is_closed(request.month),
                  .micro_per_usd = std::nullopt,
                  .lines = {},
                  .credits = {},
                  .unused_credits = {},
                  .month_hash = month_hash(books_, report_, request.month)};
  std::map<const Credit*, MicroUsd> used;
  for (const MonthRows& month : report_.months) {
    auto lines = std::move(lines_by_tenant(month, request.idle)[request.tenant]);
    if (month.month > request.month) {
      for (const InvoiceLine& line : lines) {
        add_correction(invoice.later_corrections, request.month, month.month, line.row);
      }
      continue;
    }
    auto credits = apply_credits(month.month, request.tenant, lines, used);
    if (month.month != request.month) continue;
    invoice.lines = std::move(lines);
    invoice.credits = std::move(credits);
  }
  invoice.unused_credits = unused_credits(invoice, used);
  invoice.total_micro_usd = sum_of(invoice.lines);
  for (const AppliedCredit& credit : invoice.credits) invoice.total_micro_usd -= credit.micro_usd;
  if (request.currency == "USD") {
    invoice.total_micro = invoice.total_micro_usd;
    return invoice;
  }
  invoice.micro_per_usd = rate_of(request.month, request.currency);
  if (!invoice.micro_per_usd) {
    return invalid(
        fmt::format("--currency: wanted one with a rate from before the end of {} (of a closed month: known at its "
                    "close), found {}",
                    request.month.to_string(), in_quotes(request.currency)));
  }
  convert(invoice, *invoice.micro_per_usd);
  return invoice;
}

std::vector<AppliedCredit> Invoicing::credits_of(Month month, IdleRule idle) const {
  std::vector<AppliedCredit> last;  // of the month
  std::map<const Credit*, MicroUsd> used;
  for (const MonthRows& rows : report_.months) {
    if (rows.month > month || credits_.empty()) break;
    LinesByTenant lines = lines_by_tenant(rows, idle);
    for (const auto& [tenant, credits] : credits_) {
      const auto applied = apply_credits(rows.month, tenant, lines[tenant], used);
      if (rows.month == month) last.insert(last.end(), applied.begin(), applied.end());
    }
  }
  return last;
}

}  // namespace berth::ledger
