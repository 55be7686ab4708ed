#include "edges/grpc_server/oip/methods.h"

#include <fmt/format.h>
#include <health.pb.h>
#include <inference.pb.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "edges/grpc_server/oip/health_watch.h"
#include "edges/grpc_server/oip/infer_messages.h"
#include "edges/grpc_server/oip/model_messages.h"
#include "edges/grpc_server/oip/wire.h"

namespace berth::edges {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using serving::InferAnswer;
using serving::InferenceService;
using serving::ServeFault;
using serving::ServeResult;

using CallPointer = std::shared_ptr<Call>;

void ignore(ServeFault /*fault*/) {}

/// Refuses the call if its message cannot be read; `note` is called before.
template <class Message, class Note = void (*)(ServeFault)>
std::optional<Message> message_of(Call& call, const grpc::ByteBuffer& buffer, std::span<const FieldToCount> fields = {},
                                  const Note& note = ignore) {
  Message message;
  switch (read_message(buffer, fields, message)) {
    case ReadOutcome::kRead:
      return message;
    case ReadOutcome::kBroken:
      note(ServeFault::kMalformed);
      call.refuse({.message = fmt::format("wanted a {}, found something else", message.GetTypeName())});
      break;
    case ReadOutcome::kTooManyFields:
      note(ServeFault::kTooLarge);
      call.refuse({.fault = ServeFault::kTooLarge,
                   .message = fmt::format("wanted at most {} fields of variable length, found more", kFieldCountMax)});
      break;
  }
  return std::nullopt;
}

/// Answers a call at once: `respond` makes a response or an error of a request.
template <class Request, class Respond>
void answer_now(const CallPointer& call, const grpc::ByteBuffer& buffer, Respond respond) {
  const std::optional<Request> request = message_of<Request>(*call, buffer);
  if (!request) return;
  const auto response = respond(call->service(), *request);
  if (response) {
    call->answer(write_message(*response));
  } else {
    call->refuse(response.error());
  }
}

/// A response that is made of a value, or the error in its place.
template <class Response, class Value, class Make>
ServeResult<Response> response_of(const ServeResult<Value>& value, Make make) {
  if (!value) return tl::unexpected(value.error());
  return make(*value);
}

void server_live(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  answer_now<inference::ServerLiveRequest>(call, buffer, [](const InferenceService&, const auto&) {
    inference::ServerLiveResponse response;
    response.set_live(true);
    return ServeResult<inference::ServerLiveResponse>(response);
  });
}

void server_ready(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  answer_now<inference::ServerReadyRequest>(call, buffer, [](const InferenceService& service, const auto&) {
    inference::ServerReadyResponse response;
    response.set_ready(service.is_ready());
    return ServeResult<inference::ServerReadyResponse>(response);
  });
}

void check_health(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  answer_now<HealthCheckRequest>(
      call, buffer,
      [](const InferenceService& service, const HealthCheckRequest& request) -> ServeResult<HealthCheckResponse> {
        const HealthStatus status = health_of(service, request.service());
        if (status == HealthCheckResponse::SERVICE_UNKNOWN) {
          return refuse(
              ServeFault::kUnknown,
              fmt::format("wanted no service or inference.GRPCInferenceService, found {}", request.service()));
        }
        HealthCheckResponse response;
        response.set_status(status);
        return response;
      });
}

void server_metadata(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  answer_now<inference::ServerMetadataRequest>(call, buffer, [](const InferenceService& service, const auto&) {
    return ServeResult<inference::ServerMetadataResponse>(metadata_message(service.metadata()));
  });
}

void model_ready(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  answer_now<inference::ModelReadyRequest>(call, buffer, [](const InferenceService& service, const auto& request) {
    using Response = inference::ModelReadyResponse;
    return response_of<Response>(service.is_model_ready(request.name(), request.version()), [](bool is_ready) {
      Response response;
      response.set_ready(is_ready);
      return response;
    });
  });
}

void model_metadata(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  answer_now<inference::ModelMetadataRequest>(call, buffer, [](const InferenceService& service, const auto& request) {
    return response_of<inference::ModelMetadataResponse>(
        service.model_metadata(request.name(), request.version()),
        [](const serving::ModelMetadata& metadata) { return metadata_message(metadata); });
  });
}

void model_config(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  answer_now<inference::ModelConfigRequest>(call, buffer, [](const InferenceService& service, const auto& request) {
    return response_of<inference::ModelConfigResponse>(service.model_metadata(request.name(), request.version()),
                                                       config_message);
  });
}

void model_statistics(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  answer_now<inference::ModelStatisticsRequest>(call, buffer, [](const InferenceService& service, const auto& request) {
    return response_of<inference::ModelStatisticsResponse>(service.statistics(request.name(), request.version()),
                                                           statistics_message);
  });
}

void repository_index(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  answer_now<inference::RepositoryIndexRequest>(call, buffer, [](const InferenceService& service, const auto& request) {
    return index_message(service.index(), request);
  });
}

/// The `done` of a load or an unload.
template <class Response>
InferenceService::ModelDone answer_to(CallPointer call) {
  return [call = std::move(call)](const ServeResult<bool>& result) {
    if (result) {
      call->answer(write_message(Response()));
    } else {
      call->refuse(result.error());
    }
  };
}

void load_model(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  const auto request = message_of<inference::RepositoryModelLoadRequest>(*call, buffer);
  if (!request) return;
  const ServeResult<Micros> lease = lease_of(*request);
  if (!lease) return call->refuse(lease.error());
  call->service().load(request->model_name(), *lease, answer_to<inference::RepositoryModelLoadResponse>(call));
}

void unload_model(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  const auto request = message_of<inference::RepositoryModelUnloadRequest>(*call, buffer);
  if (!request) return;
  if (const ServeResult<bool> check = check_unload(*request); !check) return call->refuse(check.error());
  call->service().unload(request->model_name(), answer_to<inference::RepositoryModelUnloadResponse>(call));
}

/// False if the client's deadline has passed.
bool shorten_to_deadline(std::optional<Micros>& timeout, std::optional<Micros> left) {
  if (!left) return true;
  if (*left <= Micros(0)) return false;
  timeout = timeout ? std::min(*timeout, *left) : *left;
  return true;
}

void infer(const CallPointer& call, const grpc::ByteBuffer& buffer) {
  auto message = message_of<inference::ModelInferRequest>(*call, buffer, infer_fields(),
                                                          [&](ServeFault fault) { call->note_refused({}, fault); });
  if (!message) return;
  const std::string model = message->model_name();
  auto request = infer_request_of(*std::move(message));
  if (!request) {
    call->note_refused(model, request.error().fault);
    return call->refuse(request.error());
  }
  request->tenant = call->tenant();
  request->caller = call->caller();
  if (!shorten_to_deadline(request->timeout, call->time_left())) {
    call->note_refused(model, ServeFault::kExpired);
    return call->refuse({.fault = ServeFault::kExpired, .message = "the deadline has passed"});
  }
  call->set_number(call->service().infer(*std::move(request), [call](ServeResult<InferAnswer> answer) {
    if (!answer) return call->refuse(answer.error());
    if (call->has_ended()) return;
    InferResponse response = infer_response_of(*std::move(answer));
    call->answer(write_message(response.head, inference::ModelInferResponse::kRawOutputContentsFieldNumber,
                               std::move(response.raw_output_contents)));
  }));
}

constexpr auto kMethods = std::to_array<Method>({
    {.path = "/inference.GRPCInferenceService/ModelInfer", .handler = infer, .is_infer = true},
    {"/inference.GRPCInferenceService/ServerLive", server_live, true},
    {"/inference.GRPCInferenceService/ServerReady", server_ready, true},
    {"/grpc.health.v1.Health/Check", check_health, true},
    {"/inference.GRPCInferenceService/ServerMetadata", server_metadata},
    {"/inference.GRPCInferenceService/ModelReady", model_ready},
    {"/inference.GRPCInferenceService/ModelMetadata", model_metadata},
    {"/inference.GRPCInferenceService/ModelConfig", model_config},
    {"/inference.GRPCInferenceService/ModelStatistics", model_statistics},
    {"/inference.GRPCInferenceService/RepositoryIndex", repository_index},
    {"/inference.GRPCInferenceService/RepositoryModelLoad", load_model},
    {"/inference.GRPCInferenceService/RepositoryModelUnload", unload_model},
});

}  // namespace

const Method* find_method(std::string_view path) {
  const auto* const found = std::ranges::find(kMethods, path, &Method::path);
  return found == kMethods.end() ? nullptr : found;
}

}  // namespace berth::edges
