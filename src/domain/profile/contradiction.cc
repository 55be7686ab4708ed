#include "domain/profile/contradiction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace berth::profile {
namespace {

const Decimal& ratio_min() {
  static const Decimal min(3, 4);
  return min;
}

const Decimal& ratio_max() {
  static const Decimal max(21, 20);
  return max;
}

Decimal power_of_ten(int exponent) {
  Decimal power(1);
  for (int i = 0; i < std::abs(exponent); ++i) power = power * Decimal(10);
  return exponent < 0 ? Decimal(1) / power : power;
}

Decimal half_unit_of(int digit) { return power_of_ten(digit) / Decimal(2); }

/// What the processes of a slice answer per second in batches of the point.
Decimal served(const PerformancePoint& point) {
  return Decimal(1000) * Decimal(point.batch) * Decimal(point.processes) / point.latency_ms;
}

/// Whether the written ratio itself is accepted, by a margin above the error of doubles; most rows are.
bool clearly_agrees(const PerformancePoint& point) {
  constexpr double kMargin = 0.001;
  const double ratio =
      point.requests_per_second.to_double() * point.latency_ms.to_double() / (1000.0 * point.batch * point.processes);
  return ratio > ratio_min().to_double() + kMargin && ratio < ratio_max().to_double() - kMargin;
}

std::string in_words(const PerformancePoint& point) {
  const double rate = point.requests_per_second.to_double();
  const double serves = served(point).to_double();
  return fmt::format(
      "{:.3g}: {:.6g} requests per second, where {} process{} with batches of {} in {:.6g} ms serve{} "
      "{:.6g}",
      rate / serves, rate, point.processes, point.processes == 1 ? "" : "es", point.batch, point.latency_ms.to_double(),
      point.processes == 1 ? "s" : "", serves);
}

ExcessiveRow excessive_row(const WrittenRow& row) {
  const Decimal most = ratio_max() * served(row.point);
  return {.number = row.number,
          .rate_place = row.rate_place,
          .wanted = fmt::format("at most {:.6g} requests per second of the slice (1.05 x batch x processes / latency)",
                                most.to_double()),
          .found = fmt::format("{:.6g}", row.point.requests_per_second.to_double())};
}

}  // namespace

int last_digit(std::string_view number) {
  const std::size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
  const std::string_view mantissa = number.substr(0, exponent_at);
  const std::size_t point = mantissa.find('.');
  int digit = point == std::string_view::npos ? 0 : -static_cast<int>(mantissa.size() - point - 1);
  if (exponent_at < number.size()) digit += std::atoi(std::string(number.substr(exponent_at + 1)).c_str());
  return digit;
}

RatioRange ratio_range(const WrittenRow& row) {
  const PerformancePoint& point = row.point;
  const Decimal rate_half = half_unit_of(row.rate_digit) * Decimal(row.is_rate_per_process ? point.processes : 1);
  const Decimal latency_half = half_unit_of(row.latency_digit);
  const Decimal whole = Decimal(1000) * Decimal(point.batch) * Decimal(point.processes);
  return {.min = (point.requests_per_second - rate_half) * (point.latency_ms - latency_half) / whole,
          .max = (point.requests_per_second + rate_half) * (point.latency_ms + latency_half) / whole};
}

bool states_too_much(const WrittenRow& row) { return !clearly_agrees(row.point) && ratio_range(row).min > ratio_max(); }

void Contradictions::add(const WrittenRow& row) {
  ++row_count_;
  if (clearly_agrees(row.point)) return;
  const RatioRange range = ratio_range(row);
  const bool is_above = range.min > ratio_max();
  if (!is_above && range.max >= ratio_min()) return;
  ++count_;
  const Decimal factor = is_above ? range.min / ratio_max() : ratio_min() / range.max;
  if (!worst_ || factor > worst_->factor) worst_ = Worst{.factor = factor, .number = row.number, .point = row.point};
  if (!is_above || (excessive_ && factor <= excess_)) return;
  excess_ = factor;
  excessive_ = excessive_row(row);
}

std::string Contradictions::text(std::string_view noun) const {
  const PerformancePoint& point = worst_->point;
  return fmt::format(
      "the columns of {} of {} row{} contradict each other: rate x latency / (batch x processes) is outside 0.75 to "
      "1.05; the worst, {}{} ({}, {}), has {}",
      count_, row_count_, row_count_ == 1 ? "" : "s", noun, worst_->number, point.gpu, point.profile, in_words(point));
}

Contradictions contradictions_of(const PerformanceTable& table) {
  Contradictions found;
  std::size_t number = 0;
  for (const PerformancePoint& point : table.points) {
    WrittenRow row{.model = table.model, .point = point, .number = ++number};
    if (!clearly_agrees(point)) {
      row.rate_digit = last_digit(point.requests_per_second.to_string());
      row.latency_digit = last_digit(point.latency_ms.to_string());
    }
    found.add(row);
  }
  return found;
}

}  // namespace berth::profile
