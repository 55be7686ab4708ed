/// The route of blobs: bytes by their SHA-256, to which services may refer in place of long tables.
#pragma once

#include <vector>

#include "surface/api/router.h"

namespace berth::api {

[[nodiscard]] std::vector<Route> blob_routes();

}  // namespace berth::api
