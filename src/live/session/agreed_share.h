/// The share of requests in time that a service owes to those who use it.
#pragma once

#include <string_view>

#include "base/core/decimal.h"
#include "domain/values/service.h"

namespace berth::live {

struct AgreedShare {
  Decimal share;          ///< above 0, at most 1
  std::string_view from;  ///< what states it: "slo.attainment", "floor.attainment" or "default"
};

/// `slo.attainment`; without it the floor; without both 0.95.
[[nodiscard]] inline AgreedShare agreed_share(const ServiceSpec& service) {
  if (service.agreed.attainment) return {.share = *service.agreed.attainment, .from = "slo.attainment"};
  if (service.floor_attainment) return {.share = *service.floor_attainment, .from = "floor.attainment"};
  return {.share = Decimal(95, 100), .from = "default"};
}

}  // namespace berth::live
