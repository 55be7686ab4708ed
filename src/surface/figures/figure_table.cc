#include "surface/figures/figure_table.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/figure_text.h"
#include "surface/figures/markup.h"

namespace berth::figures {

Cell empty_cell() { return {.text = ""}; }

Cell count_cell(std::int64_t count) { return {.value = count, .text = with_separators(count)}; }

Cell money_cell(std::int64_t micro_usd) { return {.value = micro_usd, .text = dollars(micro_usd)}; }

Cell barred_cell(Cell cell, double share) {
  cell.share = share;
  return cell;
}

Cell name_cell(std::string_view name, bool has_hindsight) {
  const std::string text(name);
  if (!has_hindsight) return {.value = text, .text = text};
  return {.value = text, .text = text + " (hindsight)", .markup = html_escaped(text) + " *"};
}

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

json::Value nine_digits(double number) { return json::Value::Number{fmt::format("{:.9f}", number)}; }

json::Value::List json_rows(const FigureTable& table) {
  json::Value::List rows;
  for (const Row& row : table.rows) {
    ENSURE(row.cells.size() == table.columns.size());
    if (row.is_only_for_people) continue;
    json::Value::Object object;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (!table.columns[i].key.empty()) object.push_back({table.columns[i].key, row.cells[i].value});
    }
    rows.emplace_back(std::move(object));
  }
  return rows;
}

}  // namespace berth::figures
