#include "apps/operator/spec_follower.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "apps/operator/operator_loop.h"
#include "apps/operator/shared_cluster.h"
#include "base/json/document.h"
#include "base/json/node_text.h"
#include "edges/http_client/curl_client.h"
#include "kube/services/custom_resources.h"

namespace berth::apps {
namespace {

constexpr std::chrono::milliseconds kSpecTick(200);
constexpr Micros kSpecTimeout = Micros::seconds(20);

}  // namespace

SpecFollower::SpecFollower(SharedCluster& cluster, std::shared_ptr<edges::KubeIdentity> identity,
                           std::shared_ptr<edges::SharedPace> pace, SpecFollowerOptions options)
    : cluster_(cluster),
      options_(std::move(options)),
      kube_(std::move(identity), std::move(pace),
            {.patience = Micros::seconds(5), .user_agent = "berth-operator", .may_write = options_.may_write}),
      http_(std::make_unique<edges::CurlClient>()) {
  if (options_.lease && !options_.is_dry_run) pause_.emplace(*options_.lease);
}

SpecFollower::~SpecFollower() { stop(); }

void SpecFollower::stop() {
  {
    const std::scoped_lock hold(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SpecFollower::take(std::string_view plural, const kube::Change& change) {
  const std::scoped_lock hold(mutex_);
  objects_.take(plural, change);
  if (plural != kube::kGpuServices.plural) return;
  if (change.kind == kube::ChangeKind::kDeleted) {
    names_.erase(change.identity.name);
  } else {
    names_.insert(change.identity.name);
  }
  changed_.notify_all();
}

void SpecFollower::note_listed(std::string_view plural) {
  const std::scoped_lock hold(mutex_);
  objects_.note_listed(plural);
}

void SpecFollower::note_absent() {
  const std::scoped_lock hold(mutex_);
  is_absent_ = true;
}

void SpecFollower::meet_api(const std::string& url, const std::string& key) {
  url_ = url.ends_with('/') ? url.substr(0, url.size() - 1) : url;
  key_ = key;
  {
    const std::scoped_lock hold(mutex_);
    is_stopping_ = false;
  }
  thread_ = std::thread([this] { run(); });
}

void SpecFollower::run() {
  while (true) {
    {
      std::unique_lock hold(mutex_);
      changed_.wait_for(hold, kSpecTick, [this] { return is_stopping_; });
      if (is_stopping_) return;
    }
    pass_on_pods();
    keep_pause();
    const bool has_written = write_specs();
    if (!options_.is_dry_run && !has_written) write_statuses();
  }
}

void SpecFollower::pass_on_pods() {
  std::map<kube::ObjectName, std::string> pods;
  {
    const std::scoped_lock hold(mutex_);
    if (!objects_.is_synced() && !is_absent_) return;
    for (const kube::ObjectName& name : names_) {
      if (const yaml::Node* const pod = objects_.pod_of(name)) pods[name] = json::text_of_node(*pod);
    }
  }
  cluster_.set_pods(std::move(pods));
}

void SpecFollower::keep_pause() {
  if (!pause_ || (options_.may_write && !options_.may_write())) return;
  const auto ask = [this](std::string_view method, const std::string& path, std::string body) {
    return http_->send(call_of(method, path, std::move(body)));
  };
  if (const auto line = pause_->step(kube_, ask, edges::steady_now())) say(*line);
}

HttpCall SpecFollower::call_of(std::string_view method, const std::string& path, std::string body) const {
  HttpCall call{.method = std::string(method), .url = url_ + path, .headers = {}, .body = std::move(body)};
  call.headers.push_back({"Authorization", "Bearer " + key_});
  call.headers.push_back({"Content-Type", "application/json"});
  call.timeout = kSpecTimeout;
  return call;
}

kube::SpecAnswer SpecFollower::ask(const kube::SpecWrite& write) {
  const auto reply = http_->send(call_of(write.method(), write.path(), write.body));
  if (!reply) return {.verdict = kube::SpecVerdict::kFailed, .message = reply.error().message};
  return kube::answer_of_api(write, reply->status, reply->body);
}

bool SpecFollower::write_specs() {
  const kube::ClusterWorld::Held held = cluster_.held();
  std::vector<kube::SpecWrite> writes;
  {
    const std::scoped_lock hold(mutex_);
    writes = objects_.decide({.tenants = held.tenants, .services = held.services}, edges::steady_now());
  }
  for (const kube::SpecWrite& write : writes) {
    const kube::SpecAnswer answer = ask(write);
    const bool is_accepted = answer.verdict == kube::SpecVerdict::kAccepted;
    say(fmt::format("{} {}{}{}", write.method(), write.path(), is_accepted ? "" : ": ", answer.message));
    const std::scoped_lock hold(mutex_);
    objects_.take_answer(write, answer, edges::steady_now(), edges::wall_text());
    if (is_stopping_) return true;
  }
  return !writes.empty();
}

std::optional<kube::ServiceView> SpecFollower::view_of(const kube::ObjectName& service) {
  const auto reply =
      http_->send(call_of("GET", fmt::format("/v1/tenants/{}/services/{}", service.namespace_name, service.name), ""));
  if (!reply || reply->status != 200) return std::nullopt;
  const auto object = json::parse_document(reply->body, "service");
  return object ? kube::view_of_api_object(*object) : std::nullopt;
}

void SpecFollower::write_statuses() {
  std::vector<kube::StatusWrite> writes;
  {
    const std::scoped_lock hold(mutex_);
    writes = objects_.statuses([this](const kube::ObjectName& name) { return view_of(name); }, edges::steady_now());
  }
  for (const kube::StatusWrite& write : writes) {
    const auto outcome = kube::write_carefully(kube_, write.write);
    if (!outcome) say(fmt::format("{}: {}", write.text, outcome.error().message));
    const std::scoped_lock hold(mutex_);
    objects_.take_outcome(write, outcome, edges::steady_now());
    if (is_stopping_) return;
  }
}

}  // namespace berth::apps
