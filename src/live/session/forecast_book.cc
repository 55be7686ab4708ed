#include "live/session/forecast_book.h"

namespace berth::live {
namespace {

constexpr std::int64_t kSpanSeconds = kForecastSpan.count() / kMicrosPerSecond;

}  // namespace

void ForecastBook::keep(ServiceId service, std::int64_t second, const forecast::Bands& bands) {
  if (service.index >= services_.size()) services_.resize(service.index + std::size_t{1});
  services_[service.index].kept.push_back({.second = second, .bands = bands});
}

bool ForecastBook::note(const ServiceSecond& seen) {
  if (seen.service.index >= services_.size()) return false;
  Service& service = services_[seen.service.index];
  // Seconds that nobody saw are not judged.
  while (!service.kept.empty() && service.kept.front().second < seen.second) service.kept.pop_front();
  if (service.kept.empty() || service.kept.front().second != seen.second) return false;
  const forecast::Bands bands = service.kept.front().bands;
  service.kept.pop_front();
  const auto count = static_cast<double>(seen.arrivals);
  const Judged judged{.second = seen.second,
                      .inside_80 = forecast::share_between(count, bands.low_80, bands.high_80),
                      .inside_95 = forecast::share_between(count, bands.low_95, bands.high_95)};
  service.judged.push_back(judged);
  while (service.judged.front().second <= seen.second - kSpanSeconds) service.judged.pop_front();
  ++service.totals.judged;
  service.totals.inside_80 += judged.inside_80;
  service.totals.inside_95 += judged.inside_95;
  const ForecastSums sums = recent(seen.service);
  const bool was_off = service.is_off;
  service.is_off =
      sums.judged >= kForecastsMin && sums.inside_80 < kForecastOffShare * static_cast<double>(sums.judged);
  return service.is_off && !was_off;
}

void ForecastBook::forget(ServiceId service) {
  if (service.index < services_.size()) services_[service.index] = {};
}

void ForecastBook::begin_totals() {
  for (Service& service : services_) service.totals = {};
}

ForecastSums ForecastBook::recent(ServiceId service) const {
  ForecastSums sums;
  if (service.index >= services_.size()) return sums;
  for (const Judged& judged : services_[service.index].judged) {
    ++sums.judged;
    sums.inside_80 += judged.inside_80;
    sums.inside_95 += judged.inside_95;
  }
  return sums;
}

ForecastSums ForecastBook::totals(ServiceId service) const {
  return service.index < services_.size() ? services_[service.index].totals : ForecastSums();
}

bool ForecastBook::is_off(ServiceId service) const {
  return service.index < services_.size() && services_[service.index].is_off;
}

}  // namespace berth::live
