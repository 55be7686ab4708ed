/// Services as an API shows them: the `spec` that scenario/service_object.h reads.
#pragma once

#include <string>

#include "base/result.h"
#include "domain/scenario.h"

namespace berth::codec {

/// The spec of a service as JSON: every field but name and tenant, those with defaults too, absent ones left out; keys
/// in the order of docs/scenario.md. Numbers are exact. Reading it gives an equal service (with name and tenant set
/// likewise), as long as it is within the limits of that reader; a table without a model (parvagpu) then has the
/// service's name as its model.
///
/// An error if the arrivals are no counts by second and no generator: rows cannot state them. Pins are written with
/// the profile names of `scenario`'s fleet. Requires: the pins are on its GPUs.
[[nodiscard]] Result<std::string> service_spec_json(const ServiceSpec& service, const Scenario& scenario);

/// A number as JSON that is read again exactly, in at most 40 characters if the number was read from so many.
[[nodiscard]] std::string readable_number(const Decimal& value);

}  // namespace berth::codec
