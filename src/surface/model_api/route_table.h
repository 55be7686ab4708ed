/// From method and path to the route.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/http_server.h"
#include "surface/model_api/model_route.h"

namespace berth::model_api {

/// A route, and what stands at its "{...}". It borrows from the request.
struct FoundRoute {
  const ModelRoute* route = nullptr;
  std::array<std::string_view, kParameterCountMax> parameters = {};
};

class RouteTable {
 public:
  /// Of several routes that match a request the first counts. Requires: no route has more than kParameterCountMax
  /// parameters.
  explicit RouteTable(std::vector<ModelRoute> routes);

  /// The route of a request; else the answer: 404 if no route has the path, 405 with the allowed methods if none of
  /// those has the method. O(routes).
  [[nodiscard]] tl::expected<FoundRoute, HttpResponse> find(const HttpRequest& request) const;

 private:
  struct Entry {
    ModelRoute route;
    std::vector<std::string> segments;
  };
  std::vector<Entry> entries_;
};

}  // namespace berth::model_api
