/// How long programs of services took to start (Scenario::measured_times). They are kept among the times of changes, as
/// changes of a kind of their own: the model is TENANT/NAME, which no GPU model is called.
#pragma once

#include <optional>

#include "base/core/instant.h"
#include "domain/values/change_times.h"
#include "domain/values/scenario.h"
#include "domain/values/service.h"

namespace berth {

[[nodiscard]] ChangeKind start_kind(const ServiceSpec& service);
[[nodiscard]] bool is_start(const ChangeKind& change);
/// The time that plans count on from an empty slice to the first answer: as measured, else ServiceSpec::start.
[[nodiscard]] Micros start_time(const Scenario& scenario, const ServiceSpec& service);
/// The same by its kind; nothing: the service is gone, and its start was not measured. Requires: is_start.
[[nodiscard]] std::optional<Micros> start_time(const Scenario& scenario, const ChangeKind& change);

}  // namespace berth
