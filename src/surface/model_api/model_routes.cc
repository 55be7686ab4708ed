#include "surface/model_api/model_routes.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "serving/protocol/server_json.h"
#include "surface/model_api/model_response.h"

namespace berth::model_api {
namespace {

using serving::InferenceService;
using serving::ServeFault;
using serving::ServeResult;

HttpAnswer live_answer() {
  return json_response(json::Writer().open_object().member("live", true).close_object().take());
}

/// Clients look at the status alone; the device is for people.
HttpAnswer ready_answer(const InferenceService& service) {
  const bool is_ready = service.is_ready();
  json::Writer json;
  json.open_object().member("ready", is_ready).member("device", service.metadata().device).close_object();
  HttpResponse response = json_response(json.take());
  response.status = is_ready ? 200 : 503;
  return response;
}

ServeResult<HttpAnswer> model_ready_answer(const InferenceService& service, const ModelCall& call) {
  const auto& [model, version] = call.parameters;
  const auto is_ready = service.is_model_ready(model, version);
  if (!is_ready) return tl::unexpected(is_ready.error());
  if (!*is_ready) {
    return serving::refuse(
        ServeFault::kUnavailable,
        fmt::format("model {} is not ready: POST /v2/repository/index gives the reason", in_quotes(model)));
  }
  return json_response(json::Writer().open_object().member("name", model).member("ready", true).close_object().take());
}

/// Metadata or configuration.
template <class WriteModel>
ServeResult<HttpAnswer> metadata_answer(const InferenceService& service, const ModelCall& call, WriteModel write) {
  const auto& [model, version] = call.parameters;
  const auto metadata = service.model_metadata(model, version);
  if (!metadata) return tl::unexpected(metadata.error());
  return json_response(write(*metadata));
}

ServeResult<HttpAnswer> statistics_answer(const InferenceService& service, const ModelCall& call) {
  const auto& [model, version] = call.parameters;
  const auto statistics = service.statistics(model, version);
  if (!statistics) return tl::unexpected(statistics.error());
  return json_response(serving::protocol::statistics_json(*statistics));
}

using ModelAnswer = ServeResult<HttpAnswer> (*)(const InferenceService&, const ModelCall&);

struct ModelPage {
  std::string_view path;  ///< behind the model or its version
  ModelAnswer answer;
};

constexpr ModelPage kModelPages[] = {
    {.path = "",
     .answer =
         [](const InferenceService& service, const ModelCall& call) {
           return metadata_answer(service, call, serving::protocol::model_metadata_json);
         }},
    {.path = "/ready", .answer = model_ready_answer},
    {.path = "/config",
     .answer =
         [](const InferenceService& service, const ModelCall& call) {
           return metadata_answer(service, call, serving::protocol::model_config_json);
         }},
    {.path = "/stats", .answer = statistics_answer},
};

}  // namespace

std::vector<ModelRoute> model_routes(InferenceService& service) {
  std::vector<ModelRoute> routes{
      {.method = "GET",
       .path = "/v2/health/live",
       .answer = [](const ModelCall& /*call*/) { return live_answer(); },
       .is_public = true},
      {.method = "GET",
       .path = "/v2/health/ready",
       .answer = [&service](const ModelCall& /*call*/) { return ready_answer(service); },
       .is_public = true},
      {.method = "GET",
       .path = "/v2",
       .answer =
           [&service](const ModelCall& /*call*/) {
             return json_response(serving::protocol::server_metadata_json(service.metadata()));
           }},
      // Before the metadata of a model, which has the same form of path.
      {.method = "GET",
       .path = "/v2/models/stats",
       .answer = [&service](const ModelCall& call) { return statistics_answer(service, call); }},
  };
  for (const ModelPage& page : kModelPages) {
    const auto answer = [&service, page](const ModelCall& call) { return page.answer(service, call); };
    for (const std::string_view model : {"/v2/models/{model}", "/v2/models/{model}/versions/{version}"}) {
      routes.push_back({.method = "GET", .path = std::string(model).append(page.path), .answer = answer});
    }
  }
  return routes;
}

}  // namespace berth::model_api
