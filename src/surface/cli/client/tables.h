/// Objects of the API as tables for people. Unknown values are shown as "-", never as 0.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml/document.h"
#include "surface/cli/client/kinds.h"

namespace berth::cli {

/// A table with a line of headings: columns left-aligned, three spaces between them, never wrapped; empty cells are
/// "-". Requires: rows as long as the headings.
[[nodiscard]] std::string columns_text(const std::vector<std::string>& headings,
                                       const std::vector<std::vector<std::string>>& rows);
/// Spaces between columns.
inline constexpr std::size_t kColumnGap = 3;

/// The most events that a table begins with: the latest ones.
inline constexpr std::size_t kEventsShownMax = 100;

/// Whether tables of the kind have ages, for which the world's time is needed.
[[nodiscard]] bool has_age(Kind kind);

/// How objects are shown.
struct TableView {
  bool is_wide = false;                           ///< more columns
  std::optional<std::string> now = std::nullopt;  ///< the world's time, for ages; absent: unknown
};

/// Objects of a kind as cells.
struct ObjectRows {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;  ///< of each object, as long as the headings
  std::optional<std::size_t> age_column;       ///< changes by itself
};
[[nodiscard]] ObjectRows object_rows(Kind kind, const std::vector<yaml::Node>& objects, const TableView& view);
/// The objects of a kind, one per line.
[[nodiscard]] std::string objects_table(Kind kind, const std::vector<yaml::Node>& objects, const TableView& view);
/// Maps of any keys: a column for each key, in the order in which they first occur.
[[nodiscard]] std::string maps_table(const yaml::List& maps);

/// Cells.
/// A scalar as people read it (readable.h); "" for anything else.
[[nodiscard]] std::string text_cell(const yaml::Node& object, std::string_view path);
/// Whole numbers as they are, others with about three significant digits.
[[nodiscard]] std::string number_text(double value);
[[nodiscard]] std::string number_cell(const yaml::Node& object, std::string_view path);
/// A share as a percentage.
[[nodiscard]] std::string share_cell(const yaml::Node& object, std::string_view path);
/// The kind of load that services have in a world of real GPUs: "simulated" or "unknown".
[[nodiscard]] std::string load_word(const yaml::Node& object, std::string_view path);
/// Of a GPU or node, what it is open to: "drained" where a drain has finished, which the API calls cordoned.
[[nodiscard]] std::string scheduling_cell(const yaml::Node& object);

}  // namespace berth::cli
