/// From method and path to the handler: one table of routes.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ports/http_server.h"
#include "live/session/write.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// A request with the values of the route's parameters.
struct Call {
  const HttpRequest& request;
  std::map<std::string, std::string, std::less<>> parameters;  ///< of "{name}" in the route
  std::string request_id;

  /// Requires: the route has it.
  [[nodiscard]] const std::string& parameter(std::string_view name) const { return parameters.find(name)->second; }
};

struct ApiContext;
struct ServiceCall;

/// Answers a request.
using Answer = ApiResult<HttpAnswer> (*)(const ApiContext&, const Call&);
/// Predicts the answer of a write, given that it succeeds; no other write is carried out in between.
using Foretell = live::WriteAnswer (*)(const ApiContext&, const Call&);
/// The slow part of a write: done before its turn, without any lock. An error becomes its answer.
using Ahead = ApiResult<void> (*)(const ApiContext&, const Call&);
/// Reads a write that is carried out together with others.
using Prepare = ApiResult<ServiceCall> (*)(const ApiContext&, const Call&);

struct Route {
  std::string_view method;
  std::string_view path;  ///< "/v1/gpus/{id}/cordon"
  Answer answer = nullptr;
  bool is_public = false;       ///< needs no key, takes any query, and changes nothing of the session
  bool takes_query = false;     ///< else a query is an error
  bool is_for_gateway = false;  ///< takes the gateway's key, and no other; it writes nothing of a client's
  int success_status = 200;
  Prepare prepare = nullptr;  ///< of a write about a service
  Foretell foretell = nullptr;
  /// Answers a repeat of a write whose order was recorded, but not its answer. Absent: the object of the path is read.
  Answer answer_begun = nullptr;
  Ahead ahead = nullptr;
  std::size_t body_bytes_max = 0;  ///< 0: the server's limit
};

/// The route of a request, and the values of its parameters.
struct Routed {
  const Route* route = nullptr;
  std::map<std::string, std::string, std::less<>> parameters;
};

class Router {
 public:
  explicit Router(std::vector<Route> routes);

  /// The route of a request; 404 if no route has the path, 405 with the allowed methods if none has the method.
  /// O(routes).
  [[nodiscard]] ApiResult<Routed> find(const HttpRequest& request) const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string> segments;
  };
  std::vector<Entry> entries_;
};

}  // namespace berth::api
