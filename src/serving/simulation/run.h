/// A run of a dispatcher on recorded requests, under a virtual clock.
#pragma once

#include <span>

#include "serving/dispatch/dispatcher.h"
#include "serving/simulation/run_event.h"

namespace berth::serving {

/// Runs until every request has ended. Requires: requests sorted by arrival and numbered by their place.
void run_dispatcher(Dispatcher& dispatcher, std::span<const Request> requests, const RunListener& listener);

}  // namespace berth::serving
