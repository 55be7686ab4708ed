#include "surface/cli/client/readable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <variant>

#include "base/core/clock_text.h"
#include "surface/cli/client/node.h"

namespace berth::cli {
namespace {

using yaml::Node;
using yaml::Scalar;
using yaml::ScalarKind;

constexpr std::size_t kDecimalsMax = 3;
/// The length of "2026-11-22T10:00:00".
constexpr std::size_t kSecondsEnd = 19;

std::string without_trailing_zeros(std::string text) {
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

Scalar readable_scalar(const Scalar& scalar) {
  Scalar shown = scalar;
  if (scalar.kind == ScalarKind::kNumber) shown.text = short_number(scalar.text);
  if (scalar.kind == ScalarKind::kText) shown.text = short_time(scalar.text);
  return shown;
}

/// The value with all its scalars made readable.
Node readable_node(const Node& node) {
  if (const auto* scalar = std::get_if<Scalar>(&node.value)) return {node.place, readable_scalar(*scalar)};
  if (const auto* list = std::get_if<yaml::List>(&node.value)) {
    yaml::List items;
    for (const Node& item : *list) items.push_back(readable_node(item));
    return {node.place, std::move(items)};
  }
  yaml::Map entries;
  for (const yaml::Entry& entry : std::get<yaml::Map>(node.value)) {
    entries.push_back({entry.key, entry.place, readable_node(entry.value)});
  }
  return {node.place, std::move(entries)};
}

}  // namespace

std::string short_number(const std::string& number) {
  const std::size_t point = number.find('.');
  const bool is_short = point == std::string::npos || number.size() - point - 1 <= kDecimalsMax;
  const bool has_exponent = number.find_first_of("eE") != std::string::npos;
  if (is_short && !has_exponent) return number;
  constexpr double kLeast = 0.0005;     // rounds to 0.001
  constexpr double kExactBelow = 1e15;  // beyond that a double has no digits after the point
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value) || std::abs(value) >= kExactBelow) return number;
  if (value != 0 && std::abs(value) < kLeast) return value > 0 ? "<0.001" : ">-0.001";
  return without_trailing_zeros(fmt::format("{:.{}f}", value, kDecimalsMax));
}

std::string short_time(const std::string& text) {
  const bool is_utc = text.size() > kSecondsEnd && text[kSecondsEnd] == '.' && text.back() == 'Z';
  if (!is_utc || !WorldEpoch().parse(text)) return text;
  const std::string seconds = text.substr(0, kSecondsEnd + 1 + kDecimalsMax);
  return without_trailing_zeros(seconds.substr(0, seconds.find('Z'))) + "Z";
}

std::string readable(const Node& value) {
  if (value.is_null()) return "";
  const auto* scalar = std::get_if<Scalar>(&value.value);
  return scalar != nullptr ? readable_scalar(*scalar).text : json_of(readable_node(value));
}

std::optional<std::string> age_text(const std::optional<std::string>& since, const std::optional<std::string>& now) {
  if (!since || !now) return std::nullopt;
  const auto from = WorldEpoch().parse(*since);
  const auto to = WorldEpoch().parse(*now);
  if (!from || !to) return std::nullopt;
  struct Unit {
    std::int64_t seconds;
    char letter;
  };
  constexpr std::array<Unit, 4> kUnits = {{{86'400, 'd'}, {3'600, 'h'}, {60, 'm'}, {1, 's'}}};
  const std::int64_t seconds = std::max<std::int64_t>(0, (*to - *from).count() / 1'000'000);
  for (std::size_t i = 0; i + 1 < kUnits.size(); ++i) {
    const Unit& unit = kUnits[i];
    const Unit& next = kUnits[i + 1];
    if (seconds < unit.seconds) continue;
    const std::int64_t rest = seconds % unit.seconds / next.seconds;
    const std::string large = fmt::format("{}{}", seconds / unit.seconds, unit.letter);
    return rest == 0 ? large : fmt::format("{}{}{}", large, rest, next.letter);
  }
  return fmt::format("{}s", seconds);
}

}  // namespace berth::cli
