/// Usage as JSON, as the API shows it and the journal keeps it.
#pragma once

#include <string>
#include <string_view>

#include "domain/values/scenario.h"
#include "live/session/usage_book.h"

namespace berth::live {

/// "held", "changing", "free", "lost", "foreign".
[[nodiscard]] std::string_view usage_word(UsageState state);

/// An object without its times: {"resource","epoch","sequence","tenant","service","holders","node","gpu","gpu_model",
/// "profile","start","units","sms","memory_mib","role","state","price_version","usd_per_gpu_hour"}. Resource and epoch:
/// the slice's place and generation; for units without a slice the GPU and null. `tenant` and `service`: of all
/// holders, null where they differ; a tenant alone may be a holder. The price is that of the scenario: version 1,
/// exact, as text. What was not observed has "observed": false, too.
[[nodiscard]] std::string usage_body(const Scenario& fleet, const UsageInterval& interval);

}  // namespace berth::live
