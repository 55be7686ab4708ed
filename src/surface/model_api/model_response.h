/// Answers of a model server over HTTP.
#pragma once

#include <string>
#include <string_view>

#include "domain/ports/http_server.h"
#include "serving/service/inference.h"

namespace berth::model_api {

/// 200 with JSON.
[[nodiscard]] HttpResponse json_response(std::string json);

/// `{"error": MESSAGE}`.
[[nodiscard]] HttpResponse error_response(int status, std::string_view message);

/// Likewise, with the headers that belong to its status: WWW-Authenticate for 401; Retry-After, in seconds, and
/// retry-after-ms for 429, and for any error that says when to try again. Both are rounded up and at least 1; for a 429
/// that does not say when, they say 1 s.
[[nodiscard]] HttpResponse error_response(const serving::ServeError& error);

}  // namespace berth::model_api
