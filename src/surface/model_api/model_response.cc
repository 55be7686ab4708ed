#include "surface/model_api/model_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "serving/protocol/http_fault.h"

namespace berth::model_api {
namespace {

constexpr std::string_view kJsonType = "application/json";

/// Rounded up, and at least 1.
std::int64_t whole_units(Micros time, Micros unit) {
  return std::max<std::int64_t>(time.count() / unit.count() + (time.count() % unit.count() > 0 ? 1 : 0), 1);
}

std::optional<Micros> retry_after(const serving::ServeError& error) {
  if (error.retry_after) return error.retry_after;
  if (error.fault == serving::ServeFault::kRejected) return Micros::seconds(1);
  return std::nullopt;
}

}  // namespace

HttpResponse json_response(std::string json) {
  return {.status = 200, .content_type = std::string(kJsonType), .headers = {}, .body = std::move(json)};
}

HttpResponse error_response(int status, std::string_view message) {
  HttpResponse response = json_response(serving::protocol::error_json(message));
  response.status = status;
  return response;
}

HttpResponse error_response(const serving::ServeError& error) {
  HttpResponse response = error_response(serving::protocol::http_status(error.fault), error.message);
  const auto add = [&](std::string_view name, std::string value) {
    response.headers.push_back({.name = std::string(name), .value = std::move(value)});
  };
  if (error.fault == serving::ServeFault::kNoKey) add("WWW-Authenticate", "Bearer");
  if (const auto after = retry_after(error)) {
    add("Retry-After", fmt::to_string(whole_units(*after, Micros::seconds(1))));
    add("retry-after-ms", fmt::to_string(whole_units(*after, Micros(1000))));
  }
  return response;
}

}  // namespace berth::model_api
