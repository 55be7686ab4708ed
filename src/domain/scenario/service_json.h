/// Services as an API shows them: the `spec` that domain/scenario/service_object.h reads.
#pragma once

#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "domain/values/rows_blobs.h"
#include "domain/values/scenario.h"

namespace berth::scenario {

/// The spec of a service as JSON: every field but name and tenant, those with defaults too, absent ones left out; keys
/// in the order of docs/reference/scenario.md. Numbers are exact. Reading it gives an equal service (with name and
/// tenant set likewise), as long as it is within the limits of that reader; a table without a model (parvagpu) then has
/// the service's name as its model.
///
/// Arrivals of a file that rows cannot state, requests with times and calls by minute, are written as the requests of
/// each second of the window, those of a minute spread over it evenly: the same load, but for what varies within a
/// second or a minute. Pins are written with the profile names of `scenario`'s fleet. Requires: the pins are on its
/// GPUs. Tables that were stated by reference are written so: `"rows":{"blob":SHA256}`.
[[nodiscard]] std::string service_spec_json(const ServiceSpec& service, const Scenario& scenario,
                                            const RowsBlobs& blobs = {});

/// Where a scenario file finds what it does not hold itself. Paths are relative to it.
struct ServicePaths {
  std::string profile;
  std::string model;                  ///< in that file, and in those of variants
  std::string arrivals;               ///< rps-text: each second of the trace, which is at scale 1
  std::vector<std::string> variants;  ///< profiles, parallel to ServiceSpec::variants
};

/// A service of a scenario file, as JSON, which is YAML, too: the fields of `service_spec_json` with name and tenant,
/// and with files instead of rows. Requires: a CountTrace at scale 1.
[[nodiscard]] std::string service_entry_json(const ServiceSpec& service, const Scenario& scenario,
                                             const ServicePaths& paths);

/// A number as JSON that is read again exactly, in at most 40 characters if the number was read from so many.
[[nodiscard]] std::string readable_number(const Decimal& value);

}  // namespace berth::scenario
