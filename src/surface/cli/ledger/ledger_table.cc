#include "surface/cli/ledger/ledger_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/clock_text.h"
#include "ledger/billing/corrections.h"
#include "surface/cli/shared/money_text.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

/// How many GPU models without a price are named.
constexpr std::size_t kUnpricedSkusMax = 10;

using LedgerRows = std::vector<std::vector<std::string>>;

struct Sum {
  ledger::GpuMicros gpu_us = 0;
  ledger::MicroUsd micro_usd = 0;

  void add(const ledger::Row& row) {
    gpu_us += row.amount.gpu_us;
    micro_usd += row.micro_usd;
  }
};

/// Sums of rows: tenants first, then idle time, then other unowned time; each by name.
struct Groups {
  std::map<std::string, Sum> tenants;
  std::map<std::string, Sum> idle;  ///< by owner
  std::map<std::string, Sum> nobodys;
  Sum total;
};

Sum& sum_of(Groups& groups, const std::string& tenant, ledger::Role role) {
  if (role == ledger::Role::kIdle) return groups.idle[tenant];
  return tenant.empty() ? groups.nobodys[std::string(name_of(role))] : groups.tenants[tenant];
}

Groups groups_of(const ledger::Report& report) {
  Groups groups;
  for (const ledger::MonthRows& month : report.months) {
    for (const ledger::Row& row : month.rows) {
      groups.total.add(row);
      sum_of(groups, row.key.tenant, row.key.role).add(row);
    }
  }
  return groups;
}

/// The dollars of the rows, and all hours, also those that cost nothing.
Groups groups_of(const ledger::Report& report, const ledger::ReportTime& time) {
  Groups groups = groups_of(report);
  groups.total.gpu_us = 0;
  for (auto* sums : {&groups.tenants, &groups.idle, &groups.nobodys}) {
    for (auto& [name, sum] : *sums) sum.gpu_us = 0;
  }
  for (const ledger::HolderTime& holder : time.holders) {
    groups.total.gpu_us += holder.gpu_us;
    sum_of(groups, holder.tenant, holder.role).gpu_us += holder.gpu_us;
  }
  return groups;
}

void add_row(LedgerRows& cells, const std::string& name, const Sum& sum, const Sum& total) {
  cells.push_back(
      {name, gpu_hours_text(sum.gpu_us), dollars_text(sum.micro_usd), percent_text(sum.micro_usd, total.micro_usd)});
}

std::string tenants_table(const Groups& groups, bool has_colour) {
  LedgerRows cells = {{"tenant", "GPU-hours", "dollars", "share"}};
  for (const auto& [tenant, sum] : groups.tenants) add_row(cells, printable(tenant), sum, groups.total);
  for (const auto& [owner, sum] : groups.idle) {
    add_row(cells, owner.empty() ? "idle" : "idle, owned by " + printable(owner), sum, groups.total);
  }
  for (const auto& [role, sum] : groups.nobodys) add_row(cells, role, sum, groups.total);
  add_row(cells, "total", groups.total, groups.total);
  return styled_table(cells, has_colour);
}

/// What the months table says of a month.
struct MonthFigures {
  ledger::MicroUsd corrections = 0;  ///< of earlier months
  ledger::LaterCorrection later;
  ledger::MicroUsd now = 0;  ///< its own usage as known now
};

MonthFigures figures_of(const ledger::MonthRows& month, const ledger::Report& report) {
  MonthFigures figures;
  for (const ledger::Row& row : month.rows) figures.corrections += row.key.of ? row.micro_usd : 0;
  figures.later = ledger::sum_of(ledger::later_corrections(report, month.month));
  figures.now = month.micro_usd - figures.corrections + figures.later.added + figures.later.taken_back;
  return figures;
}

/// The columns about later corrections are there if there are any.
std::string months_table(const ledger::Report& report, bool has_colour) {
  std::vector<MonthFigures> figures;
  bool has_later = false;
  for (const ledger::MonthRows& month : report.months) {
    figures.push_back(figures_of(month, report));
    has_later = has_later || figures.back().later != ledger::LaterCorrection();
  }
  LedgerRows cells = {{"month", "state", "rows", "corrections", "dollars"}};
  if (has_later) cells.front().insert(cells.front().end(), {"known later", "now"});
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const ledger::MonthRows& month = report.months[i];
    cells.push_back({month.month.to_string(), month.is_closed ? "closed" : "open", fmt::format("{}", month.rows.size()),
                     dollars_text(figures[i].corrections), dollars_text(month.micro_usd)});
    if (has_later)
      cells.back().insert(cells.back().end(), {corrections_text(figures[i].later), dollars_text(figures[i].now)});
  }
  std::string text = styled_table(cells, has_colour);
  if (has_later) {
    text += "\n" +
            wrapped(
                "dollars: as booked, at its close if the month is closed, with corrections of earlier months; "
                "so are invoices and exports, less credits. known later: what became known after the close, "
                "booked as corrections in later months. now: the month's own usage as known now, as berth "
                "cost sums it. The table by tenant is as known now, too.") +
            "\n";
  }
  return text;
}

std::string counts_text(const ledger::LineCounts& counts) {
  std::string text = fmt::format("{} lines: {} accepted", counts.lines, counts.accepted);
  const std::array<std::pair<std::uint64_t, const char*>, 7> others = {
      {{counts.duplicates, "repeated"},
       {counts.conflicts, "in conflict"},
       {counts.overlaps, "overlapping"},
       {counts.refused_closed, "after the close of their month"},
       {counts.refused_void, "voiding what cannot be voided"},
       {counts.refused_close, "closing out of order"},
       {counts.voided, "voided"}}};
  for (const auto& [count, name] : others) {
    if (count > 0) text += fmt::format(", {} {}", count, name);
  }
  return text;
}

/// A text as one word of a shell.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.,:+@/%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : printable(text)) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// Which GPUs have no price, and how to give them one.
std::string unpriced_text(const ledger::Report& report, const ledger::ReportTime& time) {
  const std::string hours = gpu_hours_text(report.unpriced_us);
  std::string text = report.grains == 0 ? fmt::format("The bill has no prices: {} GPU-hours cost nothing.", hours)
                                        : fmt::format("{} GPU-hours had no price: they cost nothing.", hours);
  text = wrapped(text +
                 " A price is a line of the events. These commands write the missing lines, where N is a price "
                 "in dollars (berth price list shows what GPUs cost); append them to the file of events, or "
                 "ingest them:") +
         "\n";
  const std::size_t count = std::min(time.unpriced.size(), kUnpricedSkusMax);
  for (const ledger::UnpricedSku& of : std::span(time.unpriced).first(count)) {
    text += fmt::format("  berth price event --sku {} --from {} --usd-per-gpu-hour N\n", shell_word(of.sku),
                        WorldEpoch().text(Instant(of.from_us)));
  }
  if (count < time.unpriced.size()) text += fmt::format("  and {} more\n", time.unpriced.size() - count);
  return text;
}

/// The difference between the cost of the cells and the rows with their carries, in micro-dollars rounded up.
Int128 off_micro_usd(const ledger::Report& report) {
  const Int128 difference = report.grains - report.carried_grains - report.micro_usd * ledger::kGrainsPerMicroUsd;
  return -ledger::floor_divide(difference < 0 ? difference : -difference, ledger::kGrainsPerMicroUsd);
}

}  // namespace

std::string report_table(const ledger::Report& report, const std::optional<ledger::ReportTime>& time, bool has_colour) {
  std::string text = tenants_table(time ? groups_of(report, *time) : groups_of(report), has_colour);
  text += fmt::format("adds up: {} micro-dollars off", off_micro_usd(report));
  if (report.carried_grains != 0) {
    text += fmt::format(" ({} grains, less than a micro-dollar per row, are carried forward)", report.carried_grains);
  }
  text += "\n\n" + months_table(report, has_colour) + "\n" + wrapped(counts_text(report.counts)) + "\n";
  if (report.unpriced_us != 0 && time) text += unpriced_text(report, *time);
  if (report.unbacked_us != 0) {
    text += fmt::format("{} hours of use are outside the time for which their GPUs are paid for: they cost nothing\n",
                        gpu_hours_text(report.unbacked_us));
  }
  return text;
}

std::string trial_balance_table(const ledger::TrialBalance& trial, bool has_colour) {
  LedgerRows cells = {{"account", "name", "grains"}};
  for (const ledger::AccountBalance& account : trial.accounts) {
    cells.push_back({std::string(name_of(account.kind)), account.name.empty() ? "(nobody)" : printable(account.name),
                     fmt::format("{}", account.grains)});
  }
  cells.push_back({"sum", "", fmt::format("{}", trial.sum)});
  return styled_table(cells, has_colour);
}

}  // namespace berth::cli
