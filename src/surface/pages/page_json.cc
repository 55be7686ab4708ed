#include "surface/pages/page_json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace berth::report {

double rounded(double value) {
  if (!std::isfinite(value)) return 0;
  return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
}

void write_series(json::Writer& json, const std::vector<double>& values) {
  json.list(values, [](json::Writer& to, double value) { to.value(rounded(value)); });
}

void write_series(json::Writer& json, const std::vector<std::optional<double>>& values) {
  json.list(values, [](json::Writer& to, const std::optional<double>& value) {
    to.value(value ? std::optional(rounded(*value)) : std::nullopt);
  });
}

}  // namespace berth::report
