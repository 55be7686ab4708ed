/// Aligned text for terminals: columns, wrapped lines, figures with separators. An absent figure is never shown as
/// zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/figures/figure_table.h"

namespace berth::cli {

/// The widest line that the program prints, unless a name needs more.
inline constexpr std::size_t kLineWidthMax = 120;
/// The text for an absent figure.
inline constexpr std::string_view kAbsentText = "-";

/// `format(*value)`, or kAbsentText.
template <class T, class Format>
[[nodiscard]] std::string shown(const std::optional<T>& value, Format format) {
  return value ? format(*value) : std::string(kAbsentText);
}

struct Alignment {
  std::size_t gap = 2;          ///< spaces between columns
  bool is_all_to_left = false;  ///< else only the first column is left-aligned, and the others right-aligned
};

/// Lines of equal rows; no trailing spaces. A character counts as one column. Requires: rows of equal length.
[[nodiscard]] std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows,
                                               const Alignment& alignment = {});

/// A line for a terminal, with a newline, in the style of an SGR code ("1" bold, "2" dim); plain without colour.
[[nodiscard]] std::string styled_line(bool has_colour, std::string_view code, std::string_view text);

/// The aligned rows, the first of them, the heading, dim.
[[nodiscard]] std::string styled_table(const std::vector<std::vector<std::string>>& rows, bool has_colour);

/// The line of headings and a line for each row, with the columns that have a heading.
[[nodiscard]] std::vector<std::string> figure_lines(const figures::FigureTable& table);

/// The same as text, the line of headings dim and Berth's own row bold.
[[nodiscard]] std::string figures_text(const figures::FigureTable& table, bool has_colour);

/// A remark on one of several items.
struct Remark {
  std::string name;
  std::string text;  ///< empty: no remark
};
/// "a, b: their common text", one line for each different text; `pattern` takes the names, then the text.
[[nodiscard]] std::vector<std::string> grouped(std::string_view pattern, const std::vector<Remark>& remarks);

/// The text broken at spaces into lines of at most `width` bytes (a longer word stays whole), those after the first
/// indented by two. Control bytes become '?', so that a name cannot control the terminal.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width = kLineWidthMax);

}  // namespace berth::cli
