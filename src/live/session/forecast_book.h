/// Forecasts that were kept, judged by what came: whether the bands hold what they say (docs/reference/forecast.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/core/instant.h"
#include "domain/forecast/forecaster.h"
#include "domain/values/event.h"
#include "domain/values/slice.h"

namespace berth::live {

/// Each minute the forecast of the second so far ahead is kept.
inline constexpr std::int64_t kForecastAhead = 60;
/// Shares are over that time; they are off where, of at least so many, less than this share is in the band of 80 %.
inline constexpr Micros kForecastSpan = Micros::seconds(21'600);
inline constexpr std::int64_t kForecastsMin = 200;
inline constexpr double kForecastOffShare = 0.6;

/// Forecasts that were judged. A count that a band cuts counts in part.
struct ForecastSums {
  std::int64_t judged = 0;
  double inside_80 = 0;
  double inside_95 = 0;
};

class ForecastBook {
 public:
  /// The service's forecast of a second that is to come. Requires: seconds ascend.
  void keep(ServiceId service, std::int64_t second, const forecast::Bands& bands);
  /// Judges the forecast of that second, if one was kept. Returns whether the service's forecasts are off from now on
  /// and were not before.
  bool note(const ServiceSecond& seen);
  /// Another service may take the place.
  void forget(ServiceId service);
  /// `totals` begin again: another process continues.
  void begin_totals();

  /// Of the last kForecastSpan before the latest judgement.
  [[nodiscard]] ForecastSums recent(ServiceId service) const;
  /// Since `begin_totals`.
  [[nodiscard]] ForecastSums totals(ServiceId service) const;
  [[nodiscard]] bool is_off(ServiceId service) const;

  /// Without the totals.
  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    std::size_t count = self.services_.size();
    archive(count);
    if constexpr (Archive::kReads) {
      if (!archive.require(count <= kServicesMax)) return;
      self.services_.resize(count);
    }
    for (auto& service : self.services_) archive(service.kept, service.judged, service.is_off);
  }

 private:
  static constexpr std::size_t kServicesMax = 10'000'000;  ///< far more than places

  struct Kept {
    std::int64_t second = 0;
    forecast::Bands bands;
  };
  struct Judged {
    std::int64_t second = 0;
    double inside_80 = 0;
    double inside_95 = 0;
  };
  struct Service {
    std::deque<Kept> kept;      ///< their seconds are to come
    std::deque<Judged> judged;  ///< of kForecastSpan
    bool is_off = false;
    ForecastSums totals;
  };

  std::vector<Service> services_;  ///< by ServiceId
};

}  // namespace berth::live
