#include "ledger/billing/invoice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "base/ensure.h"
#include "base/proportion.h"
#include "base/text.h"
#include "ledger/billing/month_hash.h"

namespace berth::ledger {
namespace {

constexpr std::int64_t kMicrosPerUnit = 1'000'000;

bool is_nobodys(const Row& row) { return row.key.tenant.empty(); }

/// Who pays for a sku in a month, with what each pays for it itself; by the bytes of their names.
std::map<std::string, MicroUsd> payers_of(const MonthRows& month, const std::string& sku) {
  std::map<std::string, MicroUsd> payers;
  for (const Row& row : month.rows) {
    if (!is_nobodys(row) && row.key.sku == sku) payers[row.key.tenant] += row.micro_usd;
  }
  std::erase_if(payers, [](const auto& payer) { return payer.second <= 0; });
  return payers;
}

/// The part of a row of nobody that falls to a tenant; the row itself falls to nobody if nobody pays for its sku.
std::optional<InvoiceLine> shared_line(const Row& row, const std::map<std::string, MicroUsd>& payers,
                                       const std::string& tenant) {
  if (payers.empty()) return tenant.empty() ? std::optional(InvoiceLine{.row = row}) : std::nullopt;
  const auto payer = payers.find(tenant);
  if (payer == payers.end()) return std::nullopt;
  const auto index = static_cast<std::size_t>(std::distance(payers.begin(), payer));
  std::vector<Int128> weights;
  weights.reserve(payers.size());
  for (const auto& [name, micro_usd] : payers) weights.push_back(micro_usd);
  InvoiceLine line{.row = row, .shared_role = row.key.role};
  line.row.key.tenant = tenant;
  line.row.key.role = Role::kShared;
  line.row.amount = {.gpu_us = split_in_proportion(row.amount.gpu_us, weights)[index],
                     .grains = split_in_proportion(row.amount.grains, weights)[index]};
  line.row.micro_usd = split_in_proportion(row.micro_usd, weights)[index];
  if (line.row.amount.grains == 0 && line.row.micro_usd == 0) return std::nullopt;
  return line;
}

MicroUsd sum_of(const std::vector<InvoiceLine>& lines) {
  MicroUsd sum = 0;
  for (const InvoiceLine& line : lines) sum += line.row.micro_usd;
  return sum;
}

/// Lines and credits in the currency, so that they sum to the total.
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

Invoicing::Invoicing(const Books& books, const Report& report) : books_(books), report_(report) {}

bool Invoicing::is_known(Month month, std::uint64_t line) const {
  const auto last_closed = books_.last_closed();
  return !last_closed || month > *last_closed || line < books_.close_line(month);
}

std::vector<InvoiceLine> Invoicing::lines_of(const MonthRows& month, const std::string& tenant, IdleRule idle) const {
  std::vector<InvoiceLine> lines;
  std::map<std::string, std::map<std::string, MicroUsd>> payers;  // by sku
  for (const Row& row : month.rows) {
    if (is_nobodys(row) && idle == IdleRule::kProportional) {
      auto found = payers.find(row.key.sku);
      if (found == payers.end()) found = payers.emplace(row.key.sku, payers_of(month, row.key.sku)).first;
      if (auto line = shared_line(row, found->second, tenant)) lines.push_back(*std::move(line));
    } else if (row.key.tenant == tenant) {
      lines.push_back({.row = row});
    }
  }
  std::ranges::sort(lines, [](const InvoiceLine& a, const InvoiceLine& b) {
    if (a.row.key != b.row.key) return is_before(a.row.key, b.row.key);
    return name_of(a.shared_role) < name_of(b.shared_role);
  });
  return lines;
}

std::vector<const Credit*> Invoicing::usable_credits(Month month, const std::string& tenant) const {
  std::vector<const Credit*> usable;
  for (const Credit& credit : books_.credits()) {
    const bool is_voided = credit.voided_line && is_known(month, *credit.voided_line);
    const bool is_expired = credit.expires_us && *credit.expires_us <= month.begin_us();
    if (credit.tenant != tenant || !is_known(month, credit.line) || is_voided || is_expired) continue;
    if (credit.at_us < month.end_us()) usable.push_back(&credit);
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
  const auto last_closed = books_.last_closed();
  Invoice invoice{.request = request,
                  .is_closed = last_closed && request.month <= *last_closed,
                  .micro_per_usd = std::nullopt,
                  .lines = {},
                  .credits = {},
                  .unused_credits = {},
                  .month_hash = month_hash(books_, report_, request.month)};
  std::map<const Credit*, MicroUsd> used;
  for (const MonthRows& month : report_.months) {
    if (month.month > request.month) break;
    auto lines = lines_of(month, request.tenant, request.idle);
    auto credits = apply_credits(month.month, request.tenant, lines, used);
    if (month.month != request.month) continue;
    invoice.lines = std::move(lines);
    invoice.credits = std::move(credits);
  }
  invoice.unused_credits = unused_credits(invoice, used);
  invoice.total_micro_usd = sum_of(invoice.lines);
  for (const AppliedCredit& credit : invoice.credits) invoice.total_micro_usd -= credit.micro_usd;
  if (request.currency == "USD") {
    for (InvoiceLine& line : invoice.lines) line.micro = line.row.micro_usd;
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
  std::set<std::string> tenants;
  for (const Credit& credit : books_.credits()) tenants.insert(credit.tenant);
  std::vector<AppliedCredit> all;
  for (const std::string& tenant : tenants) {
    std::map<const Credit*, MicroUsd> used;
    for (const MonthRows& rows : report_.months) {
      if (rows.month > month) break;
      const auto applied = apply_credits(rows.month, tenant, lines_of(rows, tenant, idle), used);
      if (rows.month == month) all.insert(all.end(), applied.begin(), applied.end());
    }
  }
  return all;
}

}  // namespace berth::ledger
