/// Services as an API shows them: the `spec` that domain/scenario/service_object.h reads.
#pragma once

#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "domain/values/rows_blobs.h"
#include "domain/values/scenario.h"

namespace berth::scenario {

/// The spec of a service as JSON: every field except name and tenant, including fields with default values, without
/// absent ones; keys in the order of docs/reference/scenario.md. Numbers are exact. Reading it gives an equal service
/// (once name and tenant are set) if it is within the limits of that reader; a table without a model (parvagpu) then
/// has the service's name as its model.
///
/// Arrivals that rows cannot express (requests with times, calls by minute) are written as the requests of each second
/// of the window, with a minute's calls spread evenly over it: the same load, except for variation within a second or a
/// minute. Pins are written with the profile names of `scenario`'s fleet. Requires: the pins are on its GPUs. Tables
/// given by reference are written by reference: `"rows":{"blob":SHA256}`.
[[nodiscard]] std::string service_spec_json(const ServiceSpec& service, const Scenario& scenario,
                                            const RowsBlobs& blobs = {});

/// The files to which a service of a scenario file refers. Paths are relative to the scenario file.
struct ServicePaths {
  std::string profile;
  std::string model;                  ///< in the profile file and those of variants
  std::string arrivals;               ///< rps-text: each second of the trace, which is at scale 1
  std::vector<std::string> variants;  ///< profiles, parallel to ServiceSpec::variants
};

/// A service of a scenario file, as JSON, which is also YAML: the fields of `service_spec_json` with name and tenant,
/// and with files instead of rows. Requires: a CountTrace at scale 1.
[[nodiscard]] std::string service_entry_json(const ServiceSpec& service, const Scenario& scenario,
                                             const ServicePaths& paths);

/// A number as JSON that can be read back exactly, in at most 40 characters if it was read from at most 40.
[[nodiscard]] std::string readable_number(const Decimal& value);

}  // namespace berth::scenario
