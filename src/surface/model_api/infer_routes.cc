#include "surface/model_api/infer_routes.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "serving/protocol/infer_reader.h"
#include "serving/protocol/infer_writer.h"
#include "surface/model_api/body_type.h"
#include "surface/model_api/model_response.h"

namespace berth::model_api {
namespace {

using serving::InferAnswer;
using serving::InferenceService;
using serving::ServeFault;
using serving::ServeResult;

constexpr std::string_view kHeadLengthHeader = "Inference-Header-Content-Length";
constexpr std::string_view kBinaryType = "application/octet-stream";

/// Cancels a request whose client leaves: its number may not be known yet, as the two ends run on two threads.
class Cancellation {
 public:
  explicit Cancellation(InferenceService& service) : service_(service) {}

  void client_left() { meet(kLeft); }
  void request_began(InferenceService::RequestNumber number) { meet(number); }

 private:
  static constexpr InferenceService::RequestNumber kNothing = INT64_MIN;
  static constexpr InferenceService::RequestNumber kLeft = INT64_MIN + 1;

  /// The second of the two calls cancels.
  void meet(InferenceService::RequestNumber mine) {
    InferenceService::RequestNumber other = kNothing;
    if (!state_.compare_exchange_strong(other, mine)) service_.cancel(mine == kLeft ? other : mine);
  }

  InferenceService& service_;
  std::atomic<InferenceService::RequestNumber> state_ = kNothing;
};

/// A request and the way back to its client.
struct WaitingInfer {
  serving::protocol::ReadInferRequest read;
  std::unique_ptr<HttpLateReply> reply = nullptr;
};

HttpResponse infer_response(const ServeResult<InferAnswer>& answer, const serving::protocol::AnswerForm& form) {
  if (!answer) return error_response(answer.error());
  auto written = serving::protocol::write_infer_answer(*answer, form);
  if (!written) return error_response(written.error());
  HttpResponse response = json_response(std::move(written->body));
  if (written->head_bytes) {
    response.content_type = kBinaryType;
    response.headers.push_back({.name = std::string(kHeadLengthHeader), .value = fmt::to_string(*written->head_bytes)});
  }
  return response;
}

void start_infer(InferenceService& service, const std::shared_ptr<WaitingInfer>& waiting,
                 std::unique_ptr<HttpLateReply> reply) {
  const auto cancellation = std::make_shared<Cancellation>(service);
  reply->on_gone([cancellation] { cancellation->client_left(); });
  waiting->reply = std::move(reply);
  const auto number = service.infer(std::move(waiting->read.request), [waiting](ServeResult<InferAnswer> answer) {
    waiting->reply->send(infer_response(answer, waiting->read.form));
  });
  cancellation->request_began(number);
}

ServeResult<HttpAnswer> infer_answer(InferenceService& service, const ModelCall& call) {
  const auto note = [&](ServeFault fault) {
    service.note_refused({.model = std::string(call.parameters.front()),
                          .caller = trace_context_of(call.request.headers),
                          .fault = fault});
  };
  if (auto refusal = refuse_body_type(call.request)) {
    note(ServeFault::kMalformed);
    return std::move(*refusal);
  }
  auto read =
      serving::protocol::read_infer_request(call.request.body, find_header(call.request.headers, kHeadLengthHeader));
  if (!read) {
    note(read.error().fault);
    return tl::unexpected(std::move(read.error()));
  }
  const auto& [model, version] = call.parameters;
  read->request.model = model;
  read->request.version = version;
  read->request.tenant = call.tenant;
  read->request.caller = trace_context_of(call.request.headers);
  auto waiting = std::make_shared<WaitingInfer>();
  waiting->read = std::move(*read);
  return HttpLater{.start = [&service, waiting = std::move(waiting)](std::unique_ptr<HttpLateReply> reply) {
    start_infer(service, waiting, std::move(reply));
  }};
}

}  // namespace

std::vector<ModelRoute> infer_routes(InferenceService& service) {
  std::vector<ModelRoute> routes;
  for (const std::string_view path : {"/v2/models/{model}/infer", "/v2/models/{model}/versions/{version}/infer"}) {
    routes.push_back({.method = "POST",
                      .path = std::string(path),
                      .answer = [&service](const ModelCall& call) { return infer_answer(service, call); },
                      .body_bytes_max = kInferBodyBytesMax,
                      .is_infer = true});
  }
  return routes;
}

}  // namespace berth::model_api
