/// What must hold some time after the last trouble of a session. Each function returns the violations, in words.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "domain/values/service.h"
#include "domain/values/slice.h"
#include "live/session/session.h"

namespace berth::live::testing {

/// Services that were set have only slices that serve them, with neighbours that they accept. Pins must hold, too.
[[nodiscard]] std::vector<std::string> find_misplaced(const Session& session);

/// Long after the last trouble, with planning active and every GPU and window open: slices that are still lost, and
/// services that wait for a reason that cannot hold any more.
[[nodiscard]] std::vector<std::string> find_unrecovered(Session& session);

/// A service that needs every GPU of a fleet of that many A100-80GB.
[[nodiscard]] ServiceSpec service_for_all_gpus(std::uint32_t gpu_count);
/// GPUs on which no slice serves a service.
[[nodiscard]] std::vector<std::string> find_idle_gpus(const Session& session);

/// Without any demand: nothing is under way any more, no service holds anything, and the engine knows which slices
/// exist.
[[nodiscard]] std::vector<std::string> find_unrest(const Session& session);
/// The slices that exist according to the engine.
[[nodiscard]] std::set<Slice> known_slices(const Session& session);

/// How a rebuilt session differs from the original, which may have advanced without a step since.
[[nodiscard]] std::vector<std::string> find_differences(const Session& before, const Session& after);

}  // namespace berth::live::testing
