#include "surface/pages/figure_html.h"

#include <fmt/format.h>

#include "base/core/ensure.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using figures::Cell;
using figures::Column;
using figures::FigureTable;
using figures::Row;

std::string cell_markup(const Cell& cell) {
  std::string markup = cell.markup.value_or(html_escaped(cell.text.value_or("")));
  if (markup.empty()) markup = kAbsentCell;
  return cell.share ? barred(markup, *cell.share) : markup;
}

std::string row_markup(const FigureTable& table, const Row& row) {
  ENSURE(row.cells.size() == table.columns.size());
  std::string markup;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const std::string& label = table.columns[i].label;
    if (label.empty()) continue;
    const std::string cell = cell_markup(row.cells[i]);
    markup += markup.empty() ? fmt::format(R"(<th scope="row">{}</th>)", cell) : table_cell(label, cell);
  }
  return fmt::format("<tr{}>{}</tr>\n", row.is_ours ? R"( class="ours")" : "", markup);
}

}  // namespace

std::string figure_heads(const FigureTable& table) {
  std::string heads;
  for (const Column& column : table.columns) {
    if (!column.label.empty()) heads += column_head(column.head.empty() ? column.label : column.head);
  }
  return heads;
}

std::string figure_rows(const FigureTable& table) {
  std::string rows;
  for (const Row& row : table.rows) rows += row_markup(table, row);
  return rows;
}

}  // namespace berth::report
