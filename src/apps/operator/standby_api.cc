#include "apps/operator/standby_api.h"

#include <fmt/format.h>

#include "surface/api/api_error.h"

namespace berth::apps {
namespace {

constexpr int kNotLeading = 503;

HttpResponse standing(const char* word) {
  return {.status = 200,
          .content_type = "application/json",
          .headers = {},
          .body = fmt::format(R"({{"status":"{}","leads":false}})", word)};
}

}  // namespace

std::string StandbyApi::next_id() { return fmt::format("standby-{}", ++request_count_); }

HttpAnswer StandbyApi::answer(const HttpRequest& request) {
  const bool is_probe = request.method == "GET" && request.path.size() == 1;
  if (is_probe && request.path.front() == "healthz") return standing("ok");
  if (is_probe && request.path.front() == "readyz") return standing("ready");
  const std::string leader = leader_();
  const std::string found = leader.empty() ? "a standby; nobody leads" : fmt::format("a standby; {} leads", leader);
  return api::error_response({.status = kNotLeading,
                              .code = "not_leader",
                              .message = "wanted the operator that leads, found " + found,
                              .wanted = "the operator that leads",
                              .found = found},
                             next_id());
}

HttpResponse StandbyApi::render(const HttpRefusal& refusal) {
  return api::error_response(api::error_of(refusal), next_id());
}

}  // namespace berth::apps
