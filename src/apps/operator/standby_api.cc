#include "apps/operator/standby_api.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "apps/operator/standby_objects.h"
#include "surface/api/api_error.h"
#include "surface/api/bearer_key.h"
#include "surface/api/device_json.h"
#include "surface/api/one_time_login.h"

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

StandbyApi::StandbyApi(std::function<std::string()> leader, std::string key,
                       std::function<std::optional<StandbyPause>()> pause)
    : leader_(std::move(leader)), key_(std::move(key)), pause_(std::move(pause)) {}

void StandbyApi::show(std::shared_ptr<const StandbyObjects> objects) {
  const std::scoped_lock hold(lock_);
  objects_.swap(objects);
}

void StandbyApi::note_away(std::optional<live::ClusterAway> away) {
  const std::scoped_lock hold(lock_);
  away_ = std::move(away);
}

std::optional<live::ClusterAway> StandbyApi::away() const {
  const std::scoped_lock hold(lock_);
  return away_;
}

std::shared_ptr<const StandbyObjects> StandbyApi::objects() const {
  const std::scoped_lock hold(lock_);
  return objects_;
}

std::string StandbyApi::next_id() { return fmt::format("standby-{}", ++request_count_); }

HttpAnswer StandbyApi::answer_ready(const std::string& id) const {
  const auto gone = api::cluster_away_error({.cluster_away = [this] { return away(); }});
  if (gone) return api::error_response(*gone, id);
  return standing("ready");
}

HttpAnswer StandbyApi::refuse(const std::string& leader, const std::string& id) const {
  const std::string found = leader.empty() ? "a standby; nobody leads" : fmt::format("a standby; {} leads", leader);
  return api::error_response({.status = kNotLeading,
                              .code = "not_leader",
                              .message = "wanted the operator that leads, found " + found,
                              .wanted = "the operator that leads",
                              .found = found},
                             id);
}

HttpAnswer StandbyApi::answer(const HttpRequest& request) {
  const std::string id = next_id();
  const bool is_probe = request.method == "GET" && request.path.size() == 1;
  if (is_probe && request.path.front() == "healthz") return standing("ok");
  if (is_probe && request.path.front() == "readyz") return answer_ready(id);
  const std::string leader = leader_();
  const auto shown = objects();
  const auto given = api::bearer_of(request);
  const bool has_key = given && api::is_same_secret(*given, key_);
  // The cluster is not asked for a client without the key.
  StandbyFacts facts{.leader = leader, .away = away()};
  if (has_key) facts.pause = pause_;
  const auto found = shown ? shown->answer(request, facts) : std::nullopt;
  if (!found) return refuse(leader, id);
  if (!has_key) return api::error_response(api::no_key_error("admin.key"), id);
  if (!*found) return api::error_response(found->error(), id);
  HttpResponse response = std::get<HttpResponse>(**found);
  response.headers.push_back({"X-Request-Id", id});
  return response;
}

HttpResponse StandbyApi::render(const HttpRefusal& refusal) {
  return api::error_response(api::error_of(refusal), next_id());
}

}  // namespace berth::apps
