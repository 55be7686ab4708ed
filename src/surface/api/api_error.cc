#include "surface/api/api_error.h"

#include <nlohmann/json.hpp>

#include "base/json/text.h"

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;

std::string code_of(HttpFault fault) {
  switch (fault) {
    case HttpFault::kMalformedTarget:
    case HttpFault::kMalformedHeaders:
      return "malformed";
    case HttpFault::kBodyTooLarge:
      return "body_too_large";
    case HttpFault::kTargetTooLong:
      return "target_too_long";
    case HttpFault::kHeadersTooLarge:
      return "headers_too_large";
    case HttpFault::kHandlerFailed:
      return "internal";
    case HttpFault::kTooManyConnections:
      return "too_many_connections";
    case HttpFault::kTooManyLargeBodies:
      return "too_many_large_bodies";
    case HttpFault::kTooManyLargeAnswers:
      return "too_many_large_answers";
  }
  return "internal";
}

}  // namespace

ApiError read_only_error(const std::string& why) {
  return {.status = 503, .code = "read_only", .message = "nothing can be recorded, so nothing was changed: " + why};
}

HttpResponse error_response(const ApiError& error, const std::string& request_id) {
  Json body;
  body["error"] = {{"code", error.code},
                   {"message", error.message},
                   {"field", json::or_null(error.field)},
                   {"wanted", json::or_null(error.wanted)},
                   {"found", json::or_null(error.found)},
                   {"request_id", request_id}};
  if (!error.difference.empty()) body["error"]["difference"] = error.difference;
  HttpResponse response{.status = error.status,
                        .content_type = "application/json",
                        .headers = {{"X-Request-Id", request_id}},
                        .body = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
  if (error.allow) response.headers.push_back({"Allow", *error.allow});
  if (error.status == 503) response.headers.push_back({"Retry-After", "1"});
  if (error.status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

ApiError error_of(const HttpRefusal& refusal) {
  return {.status = refusal.status, .code = code_of(refusal.fault), .message = refusal.message};
}

}  // namespace berth::api
