/// The figures of a study, each defined once: a table that is formatted as text, JSON and a part of a page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/value.h"

namespace berth::figures {

/// A column's name in each medium. All media have the columns in one order; each leaves out those without a name there.
struct Column {
  std::string key = {};      ///< in the JSON
  std::string heading = {};  ///< in the text
  std::string label = {};    ///< on the page; markup
  std::string head = {};     ///< the header of the page's column, as markup, if it differs from the label
};

/// A figure: its exact value, and its text.
struct Cell {
  json::Value value = {};                            ///< for programs
  std::optional<std::string> text = std::nullopt;    ///< absent: unknown or undefined, not zero; empty: not applicable
  std::optional<std::string> markup = std::nullopt;  ///< for the page, if it differs from `text`
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

/// A cell to which no figure applies: blank in the text, a dash on the page.
[[nodiscard]] Cell empty_cell();
/// A whole number; its text has separators.
[[nodiscard]] Cell count_cell(std::int64_t count);
/// An amount in micro-dollars; its text is in dollars.
[[nodiscard]] Cell money_cell(std::int64_t micro_usd);
/// The same figure with a bar on the page; `share` of its full width, 0 to 1.
[[nodiscard]] Cell barred_cell(Cell cell, double share);
/// The name of a policy or step, with a mark if it works in hindsight.
[[nodiscard]] Cell name_cell(std::string_view name, bool has_hindsight);

/// `part` / `whole`, for a bar; 0 if `whole` is 0.
[[nodiscard]] double share_of(std::int64_t part, std::int64_t whole);

/// A number for programs, with nine decimals.
[[nodiscard]] json::Value nine_digits(double number);

/// A JSON object for each row that is not only for people.
[[nodiscard]] json::Value::List json_rows(const FigureTable& table);

}  // namespace berth::figures
