#include "planner/window/testing/program_builder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/core/ensure.h"

namespace berth::planner::testing {

void LinearSum::add(double factor, const LinearSum& other) {
  constant += factor * other.constant;
  for (const solver::Entry& entry : other.entries) add(factor * entry.factor, entry.column);
}

LinearSum constant_sum(double constant) { return {.constant = constant, .entries = {}}; }

LinearSum column_sum(int column) { return {.constant = 0, .entries = {{.column = column, .factor = 1}}}; }

int ProgramBuilder::add_column(const ColumnTerms& terms) {
  ENSURE(terms.upper >= 0);
  ENSURE(std::isfinite(terms.gain));
  model_.columns.push_back({.cost = -terms.gain, .lower = 0, .upper = terms.upper, .is_integer = terms.is_integer});
  return static_cast<int>(model_.columns.size()) - 1;
}

/// One entry per column; the largest factor becomes 1, so that the library's absolute tolerance is a share.
void ProgramBuilder::add_row(LinearSum sum, bool is_equation) {
  std::ranges::sort(sum.entries, {}, &solver::Entry::column);
  solver::Row row;
  double largest = 0;
  for (const solver::Entry& entry : sum.entries) {
    ENSURE(entry.column >= 0 && static_cast<std::size_t>(entry.column) < model_.columns.size());
    if (!row.entries.empty() && row.entries.back().column == entry.column) {
      row.entries.back().factor += entry.factor;
    } else {
      row.entries.push_back(entry);
    }
  }
  std::erase_if(row.entries, [](const solver::Entry& entry) { return std::abs(entry.factor) < 1e-12; });
  for (const solver::Entry& entry : row.entries) largest = std::max(largest, std::abs(entry.factor));
  if (row.entries.empty()) {
    constexpr double kTiny = 1e-9;
    if (sum.constant > kTiny || (is_equation && sum.constant < -kTiny)) is_contradictory_ = true;
    return;
  }
  for (solver::Entry& entry : row.entries) entry.factor /= largest;
  row.upper = -sum.constant / largest;
  if (is_equation) row.lower = row.upper;
  model_.rows.push_back(std::move(row));
}

}  // namespace berth::planner::testing
