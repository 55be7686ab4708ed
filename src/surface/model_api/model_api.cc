#include "surface/model_api/model_api.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "surface/model_api/infer_routes.h"
#include "surface/model_api/model_response.h"
#include "surface/model_api/model_routes.h"
#include "surface/model_api/repository_routes.h"
#include "surface/model_api/unoffered_routes.h"

namespace berth::model_api {
namespace {

/// Those of inference first, as most requests are for them.
std::vector<ModelRoute> all_routes(serving::InferenceService& service, std::vector<ModelRoute> more) {
  std::vector<ModelRoute> routes = infer_routes(service);
  for (std::vector<ModelRoute> part :
       {model_routes(service), repository_routes(service), unoffered_routes(), std::move(more)}) {
    std::ranges::move(part, std::back_inserter(routes));
  }
  return routes;
}

/// The method, or OpenTelemetry's word for those that are no method of HTTP: any client can send any text there.
std::string method_name(const std::string& method) {
  constexpr std::array<std::string_view, 5> kMethods = {"PUT", "POST", "DELETE", "PATCH", "OPTIONS"};
  return std::ranges::find(kMethods, method) == kMethods.end() ? "_OTHER" : method;
}

/// Of refusals by the server itself.
serving::ServeFault fault_of(int status) {
  switch (status) {
    case 413:
      return serving::ServeFault::kTooLarge;
    case 500:
      return serving::ServeFault::kEngineFailed;
    case 503:
      return serving::ServeFault::kUnavailable;
    default:
      return serving::ServeFault::kMalformed;
  }
}

}  // namespace

ModelApi::ModelApi(serving::InferenceService& service, std::vector<ModelRoute> more)
    : service_(service), table_(all_routes(service, std::move(more))) {}

HttpAnswer ModelApi::answer(const HttpRequest& request) {
  auto found = table_.find(request);
  ModelCall call{.request = request};
  if (!found || !found->route->is_public) {
    // Before 404 and 405: a request without a key learns nothing else.
    const auto tenant = service_.tenant_of(find_header(request.headers, "Authorization"));
    if (!tenant) return error_response(tenant.error());
    call.tenant = *tenant;
  }
  if (!found) {
    note_unknown(request);
    return std::move(found.error());
  }
  call.parameters = found->parameters;
  auto answer = found->route->answer(call);
  if (!answer) return error_response(answer.error());
  return std::move(*answer);
}

std::optional<std::size_t> ModelApi::body_bytes_max(const HttpRequest& request) {
  const auto found = table_.find(request);
  if (!found || found->route->body_bytes_max == 0) return std::nullopt;
  // Nobody without a key fills the memory.
  if (!found->route->is_public && !service_.tenant_of(find_header(request.headers, "Authorization"))) {
    return std::nullopt;
  }
  return found->route->body_bytes_max;
}

HttpResponse ModelApi::render(const HttpRefusal& refusal) {
  if (refusal.request != nullptr) note_refused(*refusal.request, refusal.status);
  return error_response(refusal.status, refusal.message);
}

void ModelApi::note_unknown(const HttpRequest& request) {
  // Reads are not traced, whether or not they find something.
  if (request.method == "GET") return;
  service_.note_refused({.span = method_name(request.method),
                         .caller = trace_context_of(request.headers),
                         .fault = serving::ServeFault::kUnknown});
}

void ModelApi::note_refused(const HttpRequest& request, int status) {
  const auto found = table_.find(request);
  if (!found || !found->route->is_infer) return;
  if (!service_.tenant_of(find_header(request.headers, "Authorization"))) return;
  service_.note_refused({.model = std::string(found->parameters.front()),
                         .caller = trace_context_of(request.headers),
                         .fault = fault_of(status)});
}

}  // namespace berth::model_api
