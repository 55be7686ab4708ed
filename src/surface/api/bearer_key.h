/// The key of a request to the API.
#pragma once

#include <optional>
#include <string_view>

#include "domain/ports/http_server.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// The text after "Bearer" in the header Authorization; it borrows from the request.
[[nodiscard]] std::optional<std::string_view> bearer_of(const HttpRequest& request);
/// 401: the request does not have the key of the file.
[[nodiscard]] ApiError no_key_error(std::string_view file);

}  // namespace berth::api
