/// Objects of the API as tables for people. Unknown values are shown as "-", never as 0.
#pragma once

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
/// The objects of a kind, one per line; with `is_wide` more columns.
[[nodiscard]] std::string objects_table(Kind kind, const std::vector<yaml::Node>& objects, bool is_wide);
/// Maps of any keys: a column for each key, in the order in which they first occur.
[[nodiscard]] std::string maps_table(const yaml::List& maps);

/// Cells.
[[nodiscard]] std::string text_cell(const yaml::Node& object, std::string_view path);
/// Whole numbers as they are, others with about three significant digits.
[[nodiscard]] std::string number_text(double value);
[[nodiscard]] std::string number_cell(const yaml::Node& object, std::string_view path);
/// A share as a percentage.
[[nodiscard]] std::string share_cell(const yaml::Node& object, std::string_view path);
/// The kind of load that services have in a world of real GPUs: "simulated" or "unknown".
[[nodiscard]] std::string load_word(const yaml::Node& object, std::string_view path);
/// A scalar as it is, a list or map as JSON in one line; "" for null.
[[nodiscard]] std::string any_cell(const yaml::Node& value);

}  // namespace berth::cli
