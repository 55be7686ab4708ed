/// The query parameter `service` of a request.
#pragma once

#include <string>

#include "live/session/catalog.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// "TENANT/NAME". Error (400): it has not that form. Whether there is such a service is not checked.
[[nodiscard]] ApiResult<live::ServiceName> parse_service_name(const std::string& text);

}  // namespace berth::api
