#include "domain/profile_book/point_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::profile_book {
namespace {

constexpr double kMicrosPerMs = 1000;
constexpr double kMicrosPerSecond = 1e6;
/// A figure of 0 would be no measurement.
constexpr double kFigureMin = 0.000001;

std::string six_decimals(double value) { return fmt::format("{:.6f}", std::max(value, kFigureMin)); }

}  // namespace

std::string decimal_text(const Decimal& value, int last_digit) {
  std::string text = value.to_string();
  if (last_digit >= 0) return text;
  const auto wanted = static_cast<std::size_t>(-last_digit);
  const std::size_t point = text.find('.');
  const std::size_t decimals = point == std::string::npos ? 0 : text.size() - point - 1;
  if (point == std::string::npos) text += '.';
  if (decimals < wanted) text.append(wanted - decimals, '0');
  return text;
}

bool has_figures(const PointInForce& point) { return point.is_replaced() || (point.run != 0 && point.measured.fits); }

PointFigures figures_of(const PointInForce& point) {
  const ProfilePoint& measured = point.measured;
  if (point.is_replaced()) {
    const double mean_us = std::max(point.observed->mean_us, kFigureMin);
    const double rows = static_cast<double>(measured.batch) * static_cast<double>(measured.processes);
    return {.rate = six_decimals(rows * kMicrosPerSecond / mean_us),
            .latency_ms = six_decimals(mean_us / kMicrosPerMs)};
  }
  if (!measured.rate_text.empty()) return {.rate = measured.rate_text, .latency_ms = measured.latency_text};
  return {.rate = six_decimals(measured.rows_per_second), .latency_ms = six_decimals(measured.mean_us / kMicrosPerMs)};
}

}  // namespace berth::profile_book
