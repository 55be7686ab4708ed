/// A route of a model server: which requests it answers, and how.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ports/http_server.h"
#include "serving/service/inference.h"

namespace berth::model_api {

/// Of a route: more than any has.
inline constexpr std::size_t kParameterCountMax = 2;
/// A route for all methods.
inline constexpr std::string_view kAnyMethod = "*";

/// A request with what its route found in it.
struct ModelCall {
  const HttpRequest& request;
  /// The segments at "{...}" of the route, in that order; the rest is empty. They are not empty themselves.
  std::array<std::string_view, kParameterCountMax> parameters = {};
  serving::TenantIndex tenant = {};  ///< 0 for public routes
};

struct ModelRoute {
  std::string_view method;
  std::string path;  ///< "/v2/models/{model}/infer"
  /// Answers a request, or says why not; any thread of the server calls it, and it must return soon.
  std::function<serving::ServeResult<HttpAnswer>(const ModelCall&)> answer;
  bool is_public = false;          ///< needs no key
  std::size_t body_bytes_max = 0;  ///< 0: the server's limit
  bool is_infer = false;           ///< requests for inference, which are traced
};

}  // namespace berth::model_api
