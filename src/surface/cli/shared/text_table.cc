#include "surface/cli/shared/text_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/ensure.h"
#include "surface/cli/shared/printable.h"

namespace berth::cli {
namespace {

/// The number of UTF-8 characters: of bytes that are not continuation bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// The cells of the columns that have a heading.
std::vector<std::string> shown_cells(const figures::FigureTable& table, const figures::Row& row) {
  ENSURE(row.cells.size() == table.columns.size());
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (!table.columns[i].heading.empty()) cells.push_back(row.cells[i].text.value_or(std::string(kAbsentText)));
  }
  return cells;
}

}  // namespace

std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows, const Alignment& alignment) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    ENSURE(row.size() == widths.size());
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      if (i > 0) line += std::string(alignment.gap, ' ');
      line += i == 0 || alignment.is_all_to_left ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string styled_line(bool has_colour, std::string_view code, std::string_view text) {
  return has_colour ? fmt::format("\033[{}m{}\033[0m\n", code, text) : std::string(text) + "\n";
}

std::string styled_table(const std::vector<std::vector<std::string>>& rows, bool has_colour) {
  const std::vector<std::string> lines = aligned(rows);
  std::string text = styled_line(has_colour, "2", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) text += lines[i] + "\n";
  return text;
}

std::vector<std::string> figure_lines(const figures::FigureTable& table) {
  std::vector<std::vector<std::string>> rows(1);
  for (const figures::Column& column : table.columns) {
    if (!column.heading.empty()) rows.front().push_back(column.heading);
  }
  for (const figures::Row& row : table.rows) rows.push_back(shown_cells(table, row));
  return aligned(rows);
}

std::string figures_text(const figures::FigureTable& table, bool has_colour) {
  const std::vector<std::string> lines = figure_lines(table);
  std::string text = styled_line(has_colour, "2", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    text += styled_line(has_colour, table.rows[i - 1].is_ours ? "1" : "", lines[i]);
  }
  return text;
}

std::vector<std::string> grouped(std::string_view pattern, const std::vector<Remark>& remarks) {
  std::vector<Remark> groups;  // the names of one text joined
  for (const Remark& remark : remarks) {
    if (remark.text.empty()) continue;
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const Remark& group) { return group.text == remark.text; });
    if (same == groups.end()) {
      groups.push_back(remark);
    } else {
      same->name += ", " + remark.name;
    }
  }
  std::vector<std::string> lines;
  lines.reserve(groups.size());
  for (const auto& [name, text] : groups) lines.push_back(fmt::format(fmt::runtime(pattern), name, text));
  return lines;
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string word = printable(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
    if (column > 0 && column + 1 + word.size() > width) {
      result += "\n  ";
      column = 2;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

}  // namespace berth::cli
