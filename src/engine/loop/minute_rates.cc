#include "engine/loop/minute_rates.h"

#include <cstdint>
#include <map>
#include <utility>

namespace berth {
namespace {

constexpr std::int64_t kBinSeconds = 60;
constexpr std::int64_t kLoadSeconds = 30 * kBinSeconds;

}  // namespace

std::vector<double> minute_rates(const ServiceState& service, const ServiceSpec& spec, Instant now) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> minutes;  ///< arrivals and seconds
  const std::int64_t from = now.second() - kLoadSeconds;
  for (const ServiceSecond& second : service.seconds) {
    if (second.second < from) continue;
    auto& [arrivals, seconds] = minutes[(second.second - from) / kBinSeconds];
    arrivals += second.arrivals;
    ++seconds;
  }
  std::vector<double> rates;
  for (const auto& [minute, counts] : minutes) {
    rates.push_back(static_cast<double>(counts.first) / static_cast<double>(counts.second));
  }
  if (rates.empty()) rates.push_back(spec.expects.value_or(Decimal()).to_double());
  return rates;
}

}  // namespace berth
