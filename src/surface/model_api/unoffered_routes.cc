#include "surface/model_api/unoffered_routes.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace berth::model_api {
namespace {

struct UnofferedRoute {
  std::string_view path;
  std::string_view what;
};

constexpr UnofferedRoute kUnofferedRoutes[] = {
    {.path = "/v2/systemsharedmemory/status", .what = "shared memory"},
    {.path = "/v2/systemsharedmemory/unregister", .what = "shared memory"},
    {.path = "/v2/systemsharedmemory/region/{region}/status", .what = "shared memory"},
    {.path = "/v2/systemsharedmemory/region/{region}/register", .what = "shared memory"},
    {.path = "/v2/systemsharedmemory/region/{region}/unregister", .what = "shared memory"},
    {.path = "/v2/cudasharedmemory/status", .what = "shared memory"},
    {.path = "/v2/cudasharedmemory/unregister", .what = "shared memory"},
    {.path = "/v2/cudasharedmemory/region/{region}/status", .what = "shared memory"},
    {.path = "/v2/cudasharedmemory/region/{region}/register", .what = "shared memory"},
    {.path = "/v2/cudasharedmemory/region/{region}/unregister", .what = "shared memory"},
    {.path = "/v2/trace/setting", .what = "trace settings"},
    {.path = "/v2/models/{model}/trace/setting", .what = "trace settings"},
    {.path = "/v2/logging", .what = "log settings"},
    {.path = "/v2/models/{model}/generate", .what = "text generation"},
    {.path = "/v2/models/{model}/generate_stream", .what = "text generation"},
    {.path = "/v2/models/{model}/versions/{version}/generate", .what = "text generation"},
    {.path = "/v2/models/{model}/versions/{version}/generate_stream", .what = "text generation"},
};

}  // namespace

std::vector<ModelRoute> unoffered_routes() {
  std::vector<ModelRoute> routes;
  for (const UnofferedRoute& route : kUnofferedRoutes) {
    routes.push_back({.method = kAnyMethod, .path = std::string(route.path), .answer = [&route](const ModelCall&) {
                        return serving::refuse(serving::ServeFault::kNotOffered,
                                               fmt::format("this server does not offer {}", route.what));
                      }});
  }
  return routes;
}

}  // namespace berth::model_api
