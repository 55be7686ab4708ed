#include "surface/pages/page_json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace berth::report {

double rounded(double value) {
  if (!std::isfinite(value)) return 0;
  return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
}

Json series(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

Json series(const std::vector<std::optional<double>>& values) {
  Json list = Json::array();
  for (const std::optional<double>& value : values) list.push_back(value ? Json(rounded(*value)) : Json());
  return list;
}

}  // namespace berth::report
