/// The one shape of every error of the API: {"error":{"code","message","field","wanted","found","request_id"}}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/http_server.h"

namespace berth::api {

/// The error of a request. Members that do not apply are null in JSON.
struct ApiError {
  int status = 500;
  std::string code;  ///< a word for programs: "not_found"
  std::string message;
  std::optional<std::string> field = std::nullopt;  ///< a path: "spec.slo.latency_ms"
  std::optional<std::string> wanted = std::nullopt;
  std::optional<std::string> found = std::nullopt;
  std::optional<std::string> allow = std::nullopt;  ///< of a 405: the methods of the header Allow
  std::vector<std::string> difference = {};         ///< of a 409 `plan_changed`: what has changed; left out if empty
  friend bool operator==(const ApiError&, const ApiError&) = default;
};

template <class T>
using ApiResult = tl::expected<T, ApiError>;

/// 503: nothing can be recorded, so nothing may change. `why`: the failure of the store.
[[nodiscard]] ApiError read_only_error(const std::string& why);

/// The response for an error. `request_id` is in the body and in the header X-Request-Id.
[[nodiscard]] HttpResponse error_response(const ApiError& error, const std::string& request_id);

/// The error for a request that the HTTP server itself refused.
[[nodiscard]] ApiError error_of(const HttpRefusal& refusal);

}  // namespace berth::api
