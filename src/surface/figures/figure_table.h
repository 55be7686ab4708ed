/// The figures of a study, each said once: a table that becomes text, JSON and a part of a page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/value.h"

namespace berth::figures {

/// Where a column is shown, and as what. All media have the columns in one order; each leaves out those that have no
/// name there.
struct Column {
  std::string key = {};      ///< in the JSON
  std::string heading = {};  ///< in the text
  std::string label = {};    ///< on the page; markup
  std::string head = {};     ///< above the page's column, as markup, where that differs from the label
};

/// A figure: exact, and as people read it.
struct Cell {
  json::Value value = {};  ///< for programs
  std::optional<std::string> text =
      std::nullopt;  ///< absent: no such figure, which is not zero; empty: none belongs here
  std::optional<std::string> markup = std::nullopt;  ///< of the page, where it is not `text`
  std::optional<double> share = std::nullopt;        ///< a bar behind the figure of the page, from 0 to 1
};

struct Row {
  std::vector<Cell> cells;
  bool is_ours = false;             ///< Berth's own: emphasised
  bool is_only_for_people = false;  ///< not in the JSON
};

struct FigureTable {
  std::vector<Column> columns;
  std::vector<Row> rows;  ///< each with a cell for every column
};

/// Where no figure belongs: blank in the text, a dash on the page.
[[nodiscard]] Cell empty_cell();
/// A whole number, for people with separators.
[[nodiscard]] Cell count_cell(std::int64_t count);
/// Micro-dollars; for people dollars.
[[nodiscard]] Cell money_cell(std::int64_t micro_usd);
/// The same figure with a bar of the page; `share` of its full width.
[[nodiscard]] Cell barred_cell(Cell cell, double share);
/// The name of a policy or step. One that works in hindsight is marked.
[[nodiscard]] Cell name_cell(std::string_view name, bool has_hindsight);

/// The part of a whole, for a bar; 0 of nothing.
[[nodiscard]] double share_of(std::int64_t part, std::int64_t whole);

/// A number for programs, with nine digits behind the point.
[[nodiscard]] json::Value nine_digits(double number);

/// An object for each row that is not only for people.
[[nodiscard]] json::Value::List json_rows(const FigureTable& table);

}  // namespace berth::figures
