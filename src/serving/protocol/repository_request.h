/// Bodies of requests about the repository: the index, loading and unloading (Triton's extension model_repository). An
/// empty body is the same as `{}`.
#pragma once

#include <string_view>

#include "serving/service/inference.h"

namespace berth::serving::protocol {

/// The longest time for which a load may protect its model from eviction.
inline constexpr Micros kLeaseMax = Micros::seconds(3600);

/// Whether only models that are ready are wanted: `{"ready": true}`. Errors: kMalformed.
[[nodiscard]] ServeResult<bool> read_index_request(std::string_view body);

/// The lease of a load: `{"parameters": {"lease_seconds": N}}`, whole seconds from 0 to 3600; 0 if there is none.
/// Errors: kMalformed, also for a parameter of another name; kNotOffered for `config` and files.
[[nodiscard]] ServeResult<Micros> read_load_request(std::string_view body);

/// Checks the body of an unload. Its parameter `unload_dependents` changes nothing, as no model depends on another.
/// Errors: as for a load.
[[nodiscard]] ServeResult<void> read_unload_request(std::string_view body);

}  // namespace berth::serving::protocol
