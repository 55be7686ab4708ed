#include "surface/model_api/repository_routes.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "serving/protocol/repository_request.h"
#include "serving/protocol/server_json.h"
#include "surface/model_api/body_type.h"
#include "surface/model_api/model_response.h"

namespace berth::model_api {
namespace {

using serving::InferenceService;
using serving::ServeResult;

/// Answers when `begin(done)` calls its argument.
HttpLater answer_when_done(std::function<void(InferenceService::ModelDone done)> begin) {
  return {.start = [begin = std::move(begin)](std::unique_ptr<HttpLateReply> reply) {
    begin([shared = std::shared_ptr<HttpLateReply>(std::move(reply))](const ServeResult<bool>& result) {
      shared->send(result ? json_response("{}") : error_response(result.error()));
    });
  }};
}

ServeResult<HttpAnswer> index_answer(const InferenceService& service, const ModelCall& call) {
  if (auto refusal = refuse_body_type(call.request)) return std::move(*refusal);
  const auto is_ready_only = serving::protocol::read_index_request(call.request.body);
  if (!is_ready_only) return tl::unexpected(is_ready_only.error());
  return json_response(serving::protocol::index_json(service.index(), *is_ready_only));
}

ServeResult<HttpAnswer> load_answer(InferenceService& service, const ModelCall& call) {
  if (auto refusal = refuse_body_type(call.request)) return std::move(*refusal);
  const auto lease = serving::protocol::read_load_request(call.request.body);
  if (!lease) return tl::unexpected(lease.error());
  return answer_when_done([&service, model = std::string(call.parameters[0]), lease = *lease](auto done) {
    service.load(model, lease, std::move(done));
  });
}

ServeResult<HttpAnswer> unload_answer(InferenceService& service, const ModelCall& call) {
  if (auto refusal = refuse_body_type(call.request)) return std::move(*refusal);
  if (const auto read = serving::protocol::read_unload_request(call.request.body); !read) {
    return tl::unexpected(read.error());
  }
  return answer_when_done(
      [&service, model = std::string(call.parameters[0])](auto done) { service.unload(model, std::move(done)); });
}

}  // namespace

std::vector<ModelRoute> repository_routes(InferenceService& service) {
  return {
      {.method = "POST",
       .path = "/v2/repository/index",
       .answer = [&service](const ModelCall& call) { return index_answer(service, call); }},
      {.method = "POST",
       .path = "/v2/repository/models/{model}/load",
       .answer = [&service](const ModelCall& call) { return load_answer(service, call); }},
      {.method = "POST",
       .path = "/v2/repository/models/{model}/unload",
       .answer = [&service](const ModelCall& call) { return unload_answer(service, call); }},
  };
}

}  // namespace berth::model_api
