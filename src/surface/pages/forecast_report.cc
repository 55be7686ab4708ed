#include "surface/pages/forecast_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char forecast_html_begin[];
extern const char forecast_html_end[];
}

namespace berth::report {
namespace {

using forecast::BacktestResult;
using forecast::ForecastSecond;
using forecast::Model;
using forecast::ModelScore;

// Indices into kLevels.
constexpr std::size_t kLevel025 = 0;
constexpr std::size_t kLevel10 = 1;
constexpr std::size_t kLevel90 = 9;
constexpr std::size_t kLevel975 = 10;

std::string forecast_facts(const std::string& trace, const BacktestResult& result) {
  const forecast::BacktestPlan& plan = result.plan;
  return fact("Trace", trace) +
         fact("Seconds", fmt::format("{} to {}", plan.from_second, plan.from_second + plan.seconds - 1)) +
         fact("Forecast ahead", fmt::format("{} s", plan.horizon)) +
         fact("Made", fmt::format("every {} s, {} times", plan.every, result.origins));
}

const ModelScore& best_single(const BacktestResult& result) {
  const ModelScore* best = &result.models.front();
  for (const ModelScore& score : result.models) {
    if (score.model != Model::kCombination && score.pinball < best->pinball) best = &score;
  }
  return *best;
}

std::string forecast_headline(const BacktestResult& result) {
  const ModelScore& combined = result.models.back();
  const ModelScore& best = best_single(result);
  std::string covered =
      fmt::format("{:.0f} % of the arrivals were in the combination's 80 % band", combined.coverage_80 * 100);
  if (best.pinball <= 0) return covered;
  return fmt::format("{}; its loss is {:.3f} times that of the best single model, {}", covered,
                     combined.pinball / best.pinball, forecast::name_of(best.model));
}

std::string score_rows(const BacktestResult& result) {
  double worst = 0;
  for (const ModelScore& score : result.models) worst = std::max(worst, score.pinball);
  std::string rows;
  for (const ModelScore& score : result.models) {
    const std::string wape = score.wape ? fmt::format("{:.1f} %", *score.wape * 100) : std::string(kAbsentCell);
    rows +=
        fmt::format(R"(<tr{} data-model="{}"><th scope="row">{}</th>)",
                    score.model == Model::kCombination ? R"( class="best")" : "", forecast::name_of(score.model),
                    forecast::name_of(score.model)) +
        table_cell("Pinball loss",
                   barred(fmt::format("{:.4f}", score.pinball), worst > 0 ? score.pinball / worst : 0)) +
        table_cell("WAPE", barred(wape, score.wape.value_or(0))) +
        table_cell("In the 80 % band", barred(fmt::format("{:.1f} %", score.coverage_80 * 100), score.coverage_80)) +
        table_cell("In the 95 % band", barred(fmt::format("{:.1f} %", score.coverage_95 * 100), score.coverage_95)) +
        "</tr>\n";
  }
  return rows;
}

/// The positions of seconds and requests in one picture.
struct BandScale {
  static constexpr double kWidth = 1120;
  static constexpr double kHeight = 190;
  static constexpr double kLeft = 46;
  static constexpr double kTop = 8;
  static constexpr double kBottom = 164;
  std::int64_t first_second = 0;
  std::int64_t second_count = 1;
  double requests_max = 1;

  [[nodiscard]] double x_of(std::int64_t second) const {
    return kLeft + (kWidth - kLeft) * static_cast<double>(second - first_second) / static_cast<double>(second_count);
  }
  /// Values above the picture are drawn at its edge.
  [[nodiscard]] double y_of(double requests) const {
    return kBottom - (kBottom - kTop) * std::min(1.0, requests / requests_max);
  }
};

/// The area between two levels, from the left along the upper edge and back along the lower one.
std::string band(const BandScale& scale, std::span<const ForecastSecond> seconds, std::string_view style,
                 std::size_t low, std::size_t high) {
  std::string path;
  const auto add = [&](const ForecastSecond& second, std::size_t level) {
    fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? "M" : "L", scale.x_of(second.second),
                   scale.y_of(second.quantiles[level]));
  };
  for (const ForecastSecond& second : seconds) add(second, high);
  for (std::size_t i = seconds.size(); i > 0; --i) add(seconds[i - 1], low);
  return fmt::format(R"(<path class="{}" d="{}Z"/>)", style, path);
}

std::string median_line(const BandScale& scale, std::span<const ForecastSecond> seconds) {
  std::string path;
  for (const ForecastSecond& second : seconds) {
    fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? "M" : "L", scale.x_of(second.second),
                   scale.y_of(second.quantiles[forecast::kMedianIndex]));
  }
  return fmt::format(R"(<path class="median" d="{}"/>)", path);
}

std::string arrival_dots(const BandScale& scale, std::span<const ForecastSecond> seconds) {
  std::string path;
  for (const ForecastSecond& second : seconds) {
    fmt::format_to(std::back_inserter(path), "M{:.1f} {:.1f}h0", scale.x_of(second.second), scale.y_of(second.arrived));
  }
  return fmt::format(R"(<path class="arrived" d="{}"/>)", path);
}

std::string band_axes(const BandScale& scale) {
  std::string svg;
  for (int part = 0; part <= 2; ++part) {
    const double requests = scale.requests_max * part / 2;
    svg += fmt::format(R"(<line class="gridline" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)"
                       R"(<text x="{3}" y="{4:.1f}" text-anchor="end">{5:.4g}</text>)",
                       BandScale::kLeft, BandScale::kWidth, scale.y_of(requests), BandScale::kLeft - 5,
                       scale.y_of(requests) + 4, requests);
  }
  for (int part = 0; part <= 4; ++part) {
    const std::int64_t second = scale.first_second + scale.second_count * part / 4;
    svg += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="{}">{} s</text>)", scale.x_of(second),
                       BandScale::kHeight - 6, part == 0 ? "start" : (part == 4 ? "end" : "middle"), second);
  }
  return svg;
}

/// Up to 600 seconds, drawn with one scale for all pictures of the page.
std::string band_figure(std::span<const ForecastSecond> seconds, double requests_max) {
  const BandScale scale{.first_second = seconds.front().second,
                        .second_count = std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds.size())),
                        .requests_max = requests_max};
  return fmt::format(
      "<figure><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Requests per second: forecasts and arrivals\">"
      "{}{}{}{}{}</svg></figure>\n",
      BandScale::kWidth, BandScale::kHeight, band_axes(scale), band(scale, seconds, "band95", kLevel025, kLevel975),
      band(scale, seconds, "band80", kLevel10, kLevel90), median_line(scale, seconds), arrival_dots(scale, seconds));
}

std::string band_figures(const BacktestResult& result) {
  constexpr std::size_t kSecondsInFigure = 600;
  double requests_max = 1;
  for (const ForecastSecond& second : result.picture) {
    requests_max = std::max({requests_max, static_cast<double>(second.arrived), second.quantiles[kLevel90]});
  }
  std::string figures;
  const std::span<const ForecastSecond> all(result.picture);
  for (std::size_t begin = 0; begin < all.size(); begin += kSecondsInFigure) {
    figures += band_figure(all.subspan(begin, std::min(kSecondsInFigure, all.size() - begin)), requests_max);
  }
  return figures;
}

}  // namespace

std::string render_forecast_report(const std::string& trace, const forecast::BacktestResult& result) {
  return fill_page(embedded(forecast_html_begin, forecast_html_end),
                   {{"title", html_escaped(trace)},
                    {"headline", html_escaped(forecast_headline(result))},
                    {"facts", forecast_facts(trace, result)},
                    {"rows", score_rows(result)},
                    {"figures", band_figures(result)}});
}

}  // namespace berth::report
