/// What must hold some time after the last trouble of a session. Each function returns what is wrong, in words.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "domain/values/service.h"
#include "domain/values/slice.h"
#include "live/session/session.h"

namespace berth::live::testing {

/// Services that were set have only slices that serve them, beside services that they accept. Pins are promises, too.
[[nodiscard]] std::vector<std::string> find_misplaced(const Session& session);

/// Long after the last trouble, with planning, every GPU and every window open: slices that are still lost, and
/// services that wait for a reason that cannot hold any more.
[[nodiscard]] std::vector<std::string> find_unrecovered(Session& session);

/// A service that needs every GPU of a fleet of that many A100-80GB.
[[nodiscard]] ServiceSpec service_for_all_gpus(std::uint32_t gpu_count);
/// GPUs on which no slice serves anybody.
[[nodiscard]] std::vector<std::string> find_idle_gpus(const Session& session);

/// Nobody wants anything: nothing is under way any more, nobody holds anything, and the engine knows what stands.
[[nodiscard]] std::vector<std::string> find_unrest(const Session& session);
/// What the engine knows to stand.
[[nodiscard]] std::set<Slice> known_slices(const Session& session);

/// How a session that was made again differs from the one before; that one may have gone on without a step.
[[nodiscard]] std::vector<std::string> find_differences(const Session& before, const Session& after);

}  // namespace berth::live::testing
