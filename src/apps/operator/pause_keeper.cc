#include "apps/operator/pause_keeper.h"

#include <fmt/format.h>

#include <utility>

#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/writer.h"
#include "kube/client/status.h"
#include "kube/client/write.h"
#include "kube/lease/pause.h"

namespace berth::apps {
namespace {

constexpr Micros kPauseTick = Micros::seconds(1);
constexpr int kNoConfigMap = 404;

std::string planning_body(const std::string& reason) {
  json::Writer json;
  json.open_object().member("paused", true);
  return json.member("reason", reason).close_object().take();
}

}  // namespace

Result<std::optional<std::string>> read_pause(KubeApi& cluster, const kube::ObjectName& lease) {
  const KubeCall call{.target = kube::object_path(kube::kConfigMaps, kube::pause_name(lease))};
  const auto answer = cluster.ask(call);
  if (!answer) return pass_on(answer.error());
  if (answer->status == kNoConfigMap) return std::nullopt;
  if (answer->status != 200) return pass_on(kube::error_of(call, *answer));
  const auto object = json::parse_document(answer->body, "ConfigMap");
  if (!object) return pass_on(object.error());
  return kube::pause_reason(*object);
}

std::optional<std::string> PauseKeeper::step(KubeApi& cluster, const AskSession& ask, Instant now) {
  if (now < next_at_) return std::nullopt;
  next_at_ = now + kPauseTick;
  auto done = is_restored_ ? keep(cluster, ask) : restore(cluster, ask);
  if (done) {
    failure_.clear();
    return *std::move(done);
  }
  if (failure_ == done.error().message) return std::nullopt;
  failure_ = done.error().message;
  return "pause: " + failure_;
}

Result<std::optional<std::string>> PauseKeeper::restore(KubeApi& cluster, const AskSession& ask) {
  auto reason = read_pause(cluster, lease_);
  if (!reason) return pass_on(reason.error());
  if (*reason) {
    const std::string text = (*reason)->empty() ? "paused before" : **reason;
    const auto reply = ask("PUT", "/v1/planning", planning_body(text));
    if (!reply) return pass_on(reply.error());
    if (reply->status != 200) return fail(ErrorCode::kUnavailable, reply->body);
  }
  is_restored_ = true;
  kept_ = *std::move(reason);
  if (!kept_) return std::optional<std::string>();
  return std::optional(fmt::format("planning stays paused: {}", *kept_));
}

Result<std::optional<std::string>> PauseKeeper::keep(KubeApi& cluster, const AskSession& ask) {
  const auto reply = ask("GET", "/v1/planning", "");
  if (!reply) return pass_on(reply.error());
  if (reply->status != 200) return fail(ErrorCode::kUnavailable, reply->body);
  const auto planning = json::parse_document(reply->body, "planning");
  if (!planning) return pass_on(planning.error());
  std::optional<std::string> reason;
  const yaml::Node* const is_paused = json::find_at(*planning, {"paused"});
  if (is_paused != nullptr && json::text_of_node(*is_paused) == "true") reason = json::text_at(*planning, {"reason"});
  if (reason == kept_) return std::optional<std::string>();
  const auto outcome = kube::write_carefully(cluster, kube::pause_write(lease_, reason));
  if (!outcome) return pass_on(outcome.error());
  if (outcome->fate != kube::WriteFate::kDone) return fail(ErrorCode::kUnavailable, outcome->message);
  kept_ = std::move(reason);
  return std::optional(kept_ ? fmt::format("keeps the pause in the cluster: {}", *kept_)
                             : std::string("keeps in the cluster that planning is not paused"));
}

}  // namespace berth::apps
