#include "surface/cli/ledger/ledger_table.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "ledger/billing/corrections.h"
#include "surface/cli/shared/money_text.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

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

Groups groups_of(const ledger::Report& report) {
  Groups groups;
  for (const ledger::MonthRows& month : report.months) {
    for (const ledger::Row& row : month.rows) {
      groups.total.add(row);
      if (row.key.role == ledger::Role::kIdle) {
        groups.idle[row.key.tenant].add(row);
      } else if (row.key.tenant.empty()) {
        groups.nobodys[std::string(name_of(row.key.role))].add(row);
      } else {
        groups.tenants[row.key.tenant].add(row);
      }
    }
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

/// The difference between the cost of the cells and the rows with their carries, in micro-dollars rounded up.
Int128 off_micro_usd(const ledger::Report& report) {
  const Int128 difference = report.grains - report.carried_grains - report.micro_usd * ledger::kGrainsPerMicroUsd;
  return -ledger::floor_divide(difference < 0 ? difference : -difference, ledger::kGrainsPerMicroUsd);
}

}  // namespace

std::string report_table(const ledger::Report& report, bool has_colour) {
  std::string text = tenants_table(groups_of(report), has_colour);
  text += fmt::format("adds up: {} micro-dollars off", off_micro_usd(report));
  if (report.carried_grains != 0) {
    text += fmt::format(" ({} grains, less than a micro-dollar per row, are carried forward)", report.carried_grains);
  }
  text += "\n\n" + months_table(report, has_colour) + "\n" + wrapped(counts_text(report.counts)) + "\n";
  if (report.unpriced_us != 0) {
    text += fmt::format("{} GPU-hours had no price: they cost nothing\n", gpu_hours_text(report.unpriced_us));
  }
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
