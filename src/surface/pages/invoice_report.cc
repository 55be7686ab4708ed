#include "surface/pages/invoice_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "surface/pages/ledger_cells.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char invoice_html_begin[];
extern const char invoice_html_end[];
}

namespace berth::report {
namespace {

using ledger::AppliedCredit;
using ledger::Invoice;
using ledger::InvoiceLine;
using ledger::MicroUsd;
using ledger::Role;

using InvoiceLines = std::vector<const InvoiceLine*>;

constexpr int kHourDecimals = 4;

/// Lines by section, each in the order of the invoice.
struct InvoiceParts {
  InvoiceLines own;
  InvoiceLines shared;
  std::map<Month, InvoiceLines> corrections;  ///< by corrected month
};

InvoiceParts parts_of(const Invoice& invoice) {
  InvoiceParts parts;
  for (const InvoiceLine& line : invoice.lines) {
    if (line.row.key.of) {
      parts.corrections[*line.row.key.of].push_back(&line);
    } else if (line.row.key.role == Role::kShared) {
      parts.shared.push_back(&line);
    } else {
      parts.own.push_back(&line);
    }
  }
  return parts;
}

/// GPU time and money of lines; for credits only the money, negative.
struct InvoiceSum {
  ledger::GpuMicros gpu_us = 0;
  MicroUsd micro_usd = 0;
  MicroUsd micro = 0;

  void add(const InvoiceLine& line) {
    gpu_us += line.row.amount.gpu_us;
    micro_usd += line.row.micro_usd;
    micro += line.micro;
  }
  void add(const InvoiceLines& lines) {
    for (const InvoiceLine* line : lines) add(*line);
  }
};

bool is_converted(const Invoice& invoice) { return invoice.micro_per_usd.has_value(); }

std::string currency_markup(const Invoice& invoice) { return name_markup(invoice.request.currency); }
std::string currency_label(const Invoice& invoice) { return html_escaped(isolated(invoice.request.currency)); }

/// The columns of money: in dollars if the currency is another one, and in the currency.
std::string money_cells(const Invoice& invoice, MicroUsd micro_usd, MicroUsd micro) {
  const std::string in_usd = is_converted(invoice) ? table_cell("USD", exact_money(micro_usd)) : "";
  return in_usd + table_cell(currency_label(invoice), exact_money(micro));
}

std::string money_heads(const Invoice& invoice) {
  return (is_converted(invoice) ? column_head("USD") : "") + column_head(currency_markup(invoice));
}

std::string text_cell(std::string_view label, std::string_view markup) {
  return fmt::format(R"(<td class="text" data-label="{}">{}</td>)", label, markup);
}

std::string text_head(std::string_view markup) {
  return fmt::format(R"(<th scope="col" class="text">{}</th>)", markup);
}

std::string name_or_dash(std::string_view name) { return name.empty() ? std::string(kAbsentCell) : name_markup(name); }

std::string role_words(const InvoiceLine& line) {
  switch (line.row.key.role) {
    case Role::kIdle:
      return "idle, on GPUs owned";
    case Role::kShared:
      return "shared " + std::string(name_of(line.shared_role));
    case Role::kInference:
    case Role::kJob:
    case Role::kReconfiguration:
    case Role::kReserved:
    case Role::kRetraining:
    case Role::kStranded:
      return std::string(name_of(line.row.key.role));
  }
  return "";
}

std::string line_row(const Invoice& invoice, const InvoiceLine& line, bool is_first) {
  return fmt::format(R"(<tr{}><th scope="row">{}</th>)", is_first ? "" : R"( class="again")",
                     name_or_dash(line.row.key.service)) +
         text_cell("Role", role_words(line)) + text_cell("GPU type", name_or_dash(line.row.key.sku)) +
         table_cell("GPU-hours", gpu_hours_text(line.row.amount.gpu_us, kHourDecimals)) +
         money_cells(invoice, line.row.micro_usd, line.micro) + "</tr>\n";
}

std::string sum_row(const Invoice& invoice, std::string_view style, std::string_view markup, const InvoiceSum& sum) {
  return fmt::format(R"(<tr class="{}"><th scope="row">{}</th><td class="none"></td><td class="none"></td>)", style,
                     markup) +
         table_cell("GPU-hours", gpu_hours_text(sum.gpu_us, kHourDecimals)) +
         money_cells(invoice, sum.micro_usd, sum.micro) + "</tr>\n";
}

/// Rows by service, with a sum if there are several. Requires: lines of one service are consecutive.
std::string line_rows(const Invoice& invoice, const InvoiceLines& lines) {
  std::string rows;
  for (std::size_t first = 0; first < lines.size();) {
    const std::string& service = lines[first]->row.key.service;
    InvoiceSum sum;
    std::size_t end = first;
    for (; end < lines.size() && lines[end]->row.key.service == service; ++end) {
      rows += line_row(invoice, *lines[end], end == first);
      sum.add(*lines[end]);
    }
    if (end - first > 1 && !service.empty()) {
      rows += sum_row(invoice, "subtotal", name_markup(service) + ", total", sum);
    }
    first = end;
  }
  return rows;
}

std::string lines_table(const Invoice& invoice, const std::string& rows) {
  return fmt::format(
      "<div class=\"scroll\"><table>\n<thead><tr>{}{}{}{}{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
      text_head("Service"), text_head("Role"), text_head("GPU type"), column_head("GPU-hours"), money_heads(invoice),
      rows);
}

std::string section(std::string_view id, std::string_view title, std::string_view lead, const std::string& content) {
  return fmt::format(
      "<section aria-labelledby=\"h-{}\">\n<h2 id=\"h-{}\">{}</h2>\n<p class=\"lead\">{}</p>\n{}</section>\n", id, id,
      title, lead, content);
}

std::string own_section(const Invoice& invoice, const InvoiceLines& lines) {
  if (lines.empty()) return section("usage", "Usage", "Nothing was used in this month.", "");
  InvoiceSum sum;
  sum.add(lines);
  return section(
      "usage", "Usage",
      "GPU time by service and role. A slice has its weight&rsquo;s share of the GPU&rsquo;s time and price.",
      lines_table(invoice, line_rows(invoice, lines) + sum_row(invoice, "sum", "Usage", sum)));
}

/// The rule in words.
std::string_view idle_rule_words(ledger::IdleRule rule) {
  switch (rule) {
    case ledger::IdleRule::kKeep:
      return "Rule <b>keep</b>: what belongs to nobody &ndash; idle time, stranded slices, reconfiguration &ndash; is "
             "on no "
             "tenant&rsquo;s invoice. Idle time of GPUs that a tenant owns is usage of that tenant.";
    case ledger::IdleRule::kProportional:
      return "Rule <b>proportional</b>: what belongs to nobody &ndash; idle time, stranded slices, reconfiguration "
             "&ndash; "
             "is shared among the tenants that pay for the same GPU type in this month, in proportion to what each of "
             "them pays for it; what is left of the division goes to the largest remainders, ties by name.";
  }
  return "";
}

std::string shared_section(const Invoice& invoice, const InvoiceLines& lines) {
  const std::string_view rule = idle_rule_words(invoice.request.idle);
  if (lines.empty()) return section("shared", "Shared cost", rule, "");
  InvoiceSum sum;
  sum.add(lines);
  return section("shared", "Shared cost", rule,
                 lines_table(invoice, line_rows(invoice, lines) + sum_row(invoice, "sum", "Shared cost", sum)));
}

std::string corrections_section(const Invoice& invoice, const std::map<Month, InvoiceLines>& corrections) {
  constexpr std::string_view kTitle = "Corrections of earlier months";
  if (corrections.empty()) {
    return section("corrections", kTitle, "None.", "");
  }
  std::string rows;
  InvoiceSum all;
  for (const auto& [month, lines] : corrections) {
    rows += fmt::format(
        "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{}\">{} <small>became known after {} was "
        "closed</small></th></tr>\n",
        is_converted(invoice) ? 6 : 5, month_words(month), month.to_string());
    InvoiceSum sum;
    sum.add(lines);
    all.add(lines);
    rows += line_rows(invoice, lines);
    if (corrections.size() > 1) rows += sum_row(invoice, "subtotal", month_words(month) + ", total", sum);
  }
  return section(
      "corrections", kTitle,
      "A closed month does not change. What became known after its close &ndash; reports that came late, and "
      "events that were voided &ndash; is booked here, as the difference from what was billed for it.",
      lines_table(invoice, rows + sum_row(invoice, "sum", "Corrections", all)));
}

std::string_view credit_reason_words(ledger::CreditReason reason) {
  switch (reason) {
    case ledger::CreditReason::kSlo:
      return "missed target (slo)";
    case ledger::CreditReason::kPrepaid:
      return "prepaid";
    case ledger::CreditReason::kFree:
      return "free";
    case ledger::CreditReason::kGoodwill:
      return "goodwill";
  }
  return "";
}

std::string credit_row(const Invoice& invoice, const AppliedCredit& applied) {
  const ledger::Credit& credit = *applied.credit;
  const std::string expires = credit.expires_us ? utc_text(*credit.expires_us) : "never";
  return fmt::format(R"(<tr><th scope="row">{}</th>)", name_markup(credit.id)) +
         text_cell("Reason", credit_reason_words(credit.reason)) + text_cell("Given", utc_text(credit.at_us)) +
         text_cell("Expires", expires) + table_cell("Left, USD", exact_money(applied.left_micro_usd)) +
         money_cells(invoice, -applied.micro_usd, -applied.micro) + "</tr>\n";
}

std::string credits_section(const Invoice& invoice) {
  if (invoice.credits.empty() && invoice.unused_credits.empty()) {
    return section("credits", "Credits", "None could be used for this month.", "");
  }
  std::string rows;
  MicroUsd left = 0;
  InvoiceSum sum;
  const auto add = [&](const AppliedCredit& applied) {
    rows += credit_row(invoice, applied);
    left += applied.left_micro_usd;
    sum.micro_usd -= applied.micro_usd;
    sum.micro -= applied.micro;
  };
  for (const AppliedCredit& applied : invoice.credits) add(applied);
  for (const AppliedCredit& applied : invoice.unused_credits) add(applied);
  rows += R"(<tr class="sum"><th scope="row">Credits</th><td class="none"></td><td class="none"></td>)"
          R"(<td class="none"></td>)" +
          table_cell("Left, USD", exact_money(left)) + money_cells(invoice, sum.micro_usd, sum.micro) + "</tr>\n";
  const std::string table = fmt::format(
      "<div class=\"scroll\"><table>\n<thead><tr>{}{}{}{}{}{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
      text_head("Credit"), text_head("Reason"), text_head("Given, UTC"), text_head("Expires, UTC"),
      column_head("Left, USD"), money_heads(invoice), rows);
  return section("credits", "Credits",
                 "Those that expire first are used first, up to what is due. What is left stays for later months.",
                 table);
}

std::string summary_row(const Invoice& invoice, std::string_view style, std::string_view name, const InvoiceSum& sum) {
  return fmt::format("<tr{}><th scope=\"row\">{}</th>{}</tr>\n", style, name,
                     money_cells(invoice, sum.micro_usd, sum.micro));
}

std::string_view total_name(const Invoice& invoice) {
  if (invoice.total_micro < 0) return "To be paid back";
  return invoice.is_closed ? "Total due" : "Total so far";
}

/// The sum of each section, and the total.
std::string summary_rows(const Invoice& invoice, const InvoiceParts& parts) {
  InvoiceSum own;
  own.add(parts.own);
  InvoiceSum shared;
  shared.add(parts.shared);
  InvoiceSum corrections;
  for (const auto& [month, lines] : parts.corrections) corrections.add(lines);
  InvoiceSum credits;
  for (const AppliedCredit& credit : invoice.credits) {
    credits.micro_usd -= credit.micro_usd;
    credits.micro -= credit.micro;
  }
  const InvoiceSum total{.micro_usd = invoice.total_micro_usd, .micro = invoice.total_micro};
  return summary_row(invoice, "", "Usage", own) + summary_row(invoice, "", "Shared cost", shared) +
         summary_row(invoice, "", "Corrections of earlier months", corrections) +
         summary_row(invoice, "", "Credits", credits) +
         summary_row(invoice, R"( class="total")", total_name(invoice), total);
}

std::string invoice_facts(const Invoice& invoice) {
  const Month month = invoice.request.month;
  std::string facts = fact("Tenant", invoice.request.tenant.empty() ? "nobody" : isolated(invoice.request.tenant)) +
                      fact("Month", fmt::format("1 to {} {} (UTC)", month.day_count(), month_words(month))) +
                      fact("State", invoice.is_closed ? "closed: final" : "open: can still change") +
                      fact("Currency", isolated(invoice.request.currency));
  if (invoice.micro_per_usd) {
    facts += fmt::format("<div><dt>Rate</dt><dd>1 USD = {} {}</dd></div>\n", exact_money(*invoice.micro_per_usd),
                         currency_markup(invoice));
  }
  return facts;
}

/// Which figures these are, and the hash that proves them.
std::string hash_line(const Invoice& invoice) {
  if (!invoice.month_hash) {
    return "<p class=\"hash\">The month has no hash yet: it is not closed.</p>\n";
  }
  const std::string booking =
      ledger::booking_sentence(invoice.request.month, invoice.is_closed, invoice.later_corrections);
  return fmt::format("<p class=\"hash\">{}</p>\n", html_escaped(booking)) +
         fmt::format("<p class=\"hash\">Hash of the closed month (SHA-256) <code>{}</code></p>\n", *invoice.month_hash);
}

std::string invoice_headline(const Invoice& invoice) {
  const std::string month = month_words(invoice.request.month);
  if (invoice.request.tenant.empty()) return "What belongs to nobody, " + month;
  return fmt::format("Invoice for {}, {}", name_markup(invoice.request.tenant), month);
}

}  // namespace

std::string render_invoice(const Invoice& invoice) {
  const InvoiceParts parts = parts_of(invoice);
  const std::string& tenant = invoice.request.tenant;
  return fill_page(embedded(invoice_html_begin, invoice_html_end),
                   {{"title", html_escaped((tenant.empty() ? "nobody" : isolated(tenant)) + " " +
                                           invoice.request.month.to_string())},
                    {"headline", invoice_headline(invoice)},
                    {"state", invoice.is_closed ? "closed" : "open"},
                    {"facts", invoice_facts(invoice)},
                    {"hash", hash_line(invoice)},
                    {"money", money_heads(invoice)},
                    {"summary", summary_rows(invoice, parts)},
                    {"usage", own_section(invoice, parts.own)},
                    {"shared", shared_section(invoice, parts.shared)},
                    {"corrections", corrections_section(invoice, parts.corrections)},
                    {"credits", credits_section(invoice)}});
}

}  // namespace berth::report
