#include "edges/gateway_server/detail/own_answers.h"

#include <fmt/format.h>

#include "base/json/writer.h"

namespace berth::edges::detail {
namespace {

void write_status_of(json::Writer& json, const serving::GatewayServiceStatus& service) {
  json.open_object()
      .member("tenant", service.tenant)
      .member("service", service.service)
      .member("waiting", service.waiting);
  json.list("replicas", service.replicas, [](json::Writer& to, const serving::GatewayReplicaStatus& replica) {
    to.open_object()
        .member("slice", replica.slice)
        .member("generation", replica.generation)
        .member("url", replica.url)
        .member("is_leaving", replica.is_leaving)
        .member("is_avoided", replica.is_avoided)
        .member("in_flight", replica.in_flight)
        .member("in_flight_max", replica.in_flight_max)
        .close_object();
  });
  json.close_object();
}

HttpResponse gateway_status(const std::string& name, const serving::Gateway& gateway, Instant now) {
  json::Writer json;
  json.open_object().member("gateway", name);
  json.key("table").value(gateway.has_table() ? std::optional(gateway.table_number()) : std::nullopt);
  json.member("requests", gateway.request_count())
      .member("records_kept", gateway.book().kept_count())
      .member("records_lost", gateway.book().lost_count());
  json.list("services", gateway.status(now), write_status_of);
  return {200, "application/json", {}, json.close_object().take_line()};
}

}  // namespace

HttpResponse error_answer(int status, const std::string& message, std::optional<Micros> retry_after) {
  HttpResponse answer{
      status, "application/json", {}, json::Writer().open_object().member("error", message).close_object().take()};
  if (retry_after) {
    const std::int64_t seconds = (retry_after->count() + kMicrosPerSecond - 1) / kMicrosPerSecond;
    answer.headers.push_back({"Retry-After", fmt::format("{}", seconds)});
  }
  return answer;
}

bool is_own_path(const std::vector<std::string>& path) { return !path.empty() && path.front() == "berth"; }

HttpResponse own_answer(const std::vector<std::string>& path, const std::string& name, const serving::Gateway& gateway,
                        Instant now) {
  if (path == std::vector<std::string>{"berth", "v1", "status"}) return gateway_status(name, gateway, now);
  if (path != std::vector<std::string>{"berth", "v1", "ready"}) {
    return error_answer(404, "wanted /berth/v1/status or /berth/v1/ready, found another path");
  }
  if (!gateway.has_table()) return error_answer(503, "no table of endpoints has come from berth up yet");
  return {200, "application/json", {}, "{\"ready\":true}"};
}

}  // namespace berth::edges::detail
