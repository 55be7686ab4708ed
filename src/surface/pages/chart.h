/// Static SVG charts: scales, axes, and lines and areas that change in steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::report {

/// A linear scale from values to positions in a picture.
struct ChartScale {
  double first = 0;
  double last = 1;
  double at_first = 0;
  double at_last = 1;

  [[nodiscard]] double at(double value) const {
    return last == first ? at_first : at_first + (at_last - at_first) * (value - first) / (last - first);
  }
};

/// The edges of the plot area; axes are to its left and below it.
struct ChartFrame {
  static constexpr double kWidth = 960;
  double left = 58;
  double right = kWidth - 6;
  double top = 10;
  double bottom = 180;
  double height = 204;  ///< of the whole picture, axes included
};

/// A position as text, with one decimal if needed.
[[nodiscard]] std::string position(double at);

/// Multiples of 1, 2 or 5 times a power of ten within [first, last], at most `count_max` + 1; if first == last, that
/// value. Requires: first <= last.
[[nodiscard]] std::vector<double> round_values(double first, double last, int count_max);

/// A scale from 0 to a round value of at least `most`.
[[nodiscard]] ChartScale value_scale(const ChartFrame& frame, double most);

/// "1,200", "2.5"; after `prefix`, such as "$".
[[nodiscard]] std::string axis_text(double value, std::string_view prefix);

/// Lines across the frame at round values, with labels.
[[nodiscard]] std::string value_axis(const ChartFrame& frame, const ChartScale& y, std::string_view prefix);

/// Labels of times below the frame, in a unit that suits their distance: "30 s", "10 min", "5:40 h", "6 h", "2 d". The
/// scale is in seconds.
inline constexpr int kTimesMax = 10;
[[nodiscard]] std::string time_axis(const ChartFrame& frame, const ChartScale& x, int count_max = kTimesMax);

/// Items grouped into equal columns; the last column may be narrower.
struct ColumnPlan {
  std::int64_t items = 0;
  std::int64_t per_column = 1;

  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>((items + per_column - 1) / per_column); }
  /// The first item of a column; for `columns()`, the end.
  [[nodiscard]] std::int64_t first(std::size_t column) const;
};
inline constexpr std::int64_t kColumnsMax = 1000;
/// As few items per column as kColumnsMax allows.
[[nodiscard]] ColumnPlan columns_for(std::int64_t items);
/// The mean of the items of each column.
[[nodiscard]] std::vector<double> column_means(const ColumnPlan& plan, std::span<const std::int64_t> items);

/// The scales of a step chart: `x` is in items.
struct StepChart {
  ColumnPlan plan;
  ChartScale x;
  ChartScale y;
};
/// A path along the values of the columns.
[[nodiscard]] std::string step_line(const StepChart& chart, std::string_view style, std::span<const double> values);
/// The area between two such lines.
[[nodiscard]] std::string step_area(const StepChart& chart, std::string_view style, std::span<const double> low,
                                    std::span<const double> high);

/// A full-width figure, which scrolls on narrow screens. `title` and `remark` are markup, `label` is text.
struct ChartFigure {
  std::string title;
  std::string remark;
  std::string label;  ///< for screen readers
  double height = 0;
  std::string svg;
};
[[nodiscard]] std::string chart_figure(const ChartFigure& figure);

/// A legend entry: a swatch of 16 x 12, as SVG markup, with a text, which is escaped.
[[nodiscard]] std::string key_item(std::string_view swatch, std::string_view text);

/// Positions for labels near the wanted ones, moved apart to a distance of at least `apart`, within [top, bottom] if
/// there is space. In the order of the arguments.
[[nodiscard]] std::vector<double> spread_labels(std::vector<double> wanted, double apart, double top, double bottom);

}  // namespace berth::report
