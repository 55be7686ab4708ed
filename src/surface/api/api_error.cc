#include "surface/api/api_error.h"

#include "base/json/writer.h"

namespace berth::api {
namespace {

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
  json::Writer body;
  body.open_object().open_object("error").member("code", error.code).member("message", error.message);
  body.member("field", error.field).member("wanted", error.wanted).member("found", error.found);
  body.member("request_id", request_id);
  if (!error.difference.empty()) body.list("difference", error.difference);
  HttpResponse response{.status = error.status,
                        .content_type = "application/json",
                        .headers = {{"X-Request-Id", request_id}},
                        .body = body.close_object().close_object().take_line()};
  if (error.allow) response.headers.push_back({"Allow", *error.allow});
  if (error.status == 503) response.headers.push_back({"Retry-After", "1"});
  if (error.status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

ApiError error_of(const HttpRefusal& refusal) {
  return {.status = refusal.status, .code = code_of(refusal.fault), .message = refusal.message};
}

}  // namespace berth::api
