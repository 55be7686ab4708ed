/// How long batches really take, compared with the tables: speed factors, by service and kind of slice.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "domain/values/slice.h"

namespace berth {

struct ServiceSpec;

/// A service on slices of one profile, on GPUs of one model. Stored by name, as the rows of tables are.
struct SpeedPlace {
  ServiceId service;
  std::string gpu;      ///< full name of the GPU model
  std::string profile;  ///< that of the table's rows: a whole GPU may use those of the largest profile
  friend auto operator<=>(const SpeedPlace&, const SpeedPlace&) = default;
};

/// The time of batches divided by that of the table for the same batches.
struct SpeedFactor {
  Decimal factor = Decimal(1);  ///< > 0; above 1: slower than the table
  std::int64_t batches = 0;     ///< by which it was measured
  Instant at;                   ///< when it was recorded
  bool is_used = true;          ///< false: only reported; whoever plans counts on the table
  friend bool operator==(const SpeedFactor&, const SpeedFactor&) = default;
};

using SpeedFactors = std::map<SpeedPlace, SpeedFactor>;

/// The factor that plans count on at a place: its own or, without one, the mean of the service's others on that GPU
/// model; 1 if there is none. Those that are only reported do not count. O(log factors + those of the service).
[[nodiscard]] Decimal speed_in_force(const SpeedFactors& speeds, const SpeedPlace& place);
/// The same with those that are only reported.
[[nodiscard]] Decimal speed_reported(const SpeedFactors& speeds, const SpeedPlace& place);
/// Whether plans count on a factor of the service somewhere.
[[nodiscard]] bool has_speed(const SpeedFactors& speeds, ServiceId service);
/// Forgets the factors of a service.
void forget_speeds(SpeedFactors& speeds, ServiceId service);
/// Whether a new spec has other rows than the one before, so that what was measured by them says nothing any more.
[[nodiscard]] bool has_new_table(const ServiceSpec& before, const ServiceSpec& after);

}  // namespace berth
