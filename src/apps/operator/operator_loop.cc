#include "apps/operator/operator_loop.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <utility>

#include "apps/operator/shared_cluster.h"
#include "apps/operator/spec_follower.h"
#include "base/json/node_text.h"
#include "kube/services/custom_resources.h"

namespace berth::apps {
namespace {

constexpr int kRoundsMax = 8;  // of decisions that follow from one another, before changes are looked at again
constexpr std::int64_t kBurst = 400;

}  // namespace

std::string wall_text() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  const std::time_t seconds = micros / kMicrosPerSecond;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, micros % kMicrosPerSecond);
}

OperatorLoop::OperatorLoop(std::shared_ptr<edges::KubeIdentity> identity, OperatorLoopOptions options)
    : options_(std::move(options)),
      pace_(std::make_shared<edges::SharedPace>(options_.requests_per_second, kBurst)),
      client_(identity, pace_, {.patience = Micros::seconds(5), .user_agent = "berth-operator"}),
      placing_(options_.placing) {
  std::uint64_t seed = static_cast<std::uint64_t>(edges::steady_now().micros());
  std::vector<kube::Resource> followed = kube::followed_resources();
  followed.insert(followed.end(), kube::kServiceResources.begin(), kube::kServiceResources.end());
  for (const kube::Resource& resource : followed) {
    followers_.push_back(
        std::make_unique<edges::KubeFollower>(resource, identity, pace_, queue_, options_.reflector, ++seed));
  }
}

OperatorLoop::~OperatorLoop() { queue_.close(); }

void OperatorLoop::say(const std::string& line) const {
  if (options_.log) options_.log(line);
}

void OperatorLoop::take_news() {
  for (edges::KubeNews& news : queue_.take(options_.moment)) {
    for (const kube::Change& change : news.changes) {
      placing_.take(news.plural, change);
      pass_on(news.plural, change);
    }
    if (news.has_listed) placing_.note_listed(news.plural);
    if (news.has_listed) note_specs_listed(news.plural);
    note_trouble(news.plural, news.trouble);
  }
}

bool is_of_specs(std::string_view plural) {
  return plural == kube::kTenants.plural || plural == kube::kGpuServices.plural;
}

void OperatorLoop::note_trouble(std::string_view plural, const std::optional<Error>& trouble) {
  const std::string name(plural);
  if (trouble && troubled_.insert(name).second) say(fmt::format("{}: {}", name, trouble->message));
  if (!trouble && troubled_.erase(name) > 0) say(fmt::format("{}: followed again", name));
  if (!trouble || trouble->code != ErrorCode::kNotFound || !is_of_specs(plural)) return;
  has_no_specs_ = true;
  if (specs_ != nullptr) specs_->note_absent();
}

void OperatorLoop::note_specs_listed(std::string_view plural) {
  if (!is_of_specs(plural)) return;
  listed_specs_.insert(std::string(plural));
  if (specs_ != nullptr) specs_->note_listed(plural);
}

void OperatorLoop::pass_on(std::string_view plural, const kube::Change& change) {
  if (cluster_ != nullptr) {
    cluster_->take(plural, change);
    if (specs_ != nullptr) specs_->take(plural, change);
    return;
  }
  if (is_of_specs(plural)) return static_cast<void>(unheard_.emplace_back(plural, change));
  if (plural != kube::kPods.plural && plural != kube::kResourceClaims.plural) return;
  const bool is_of_service = !json::text_at(change.object, {"metadata", "labels", kube::kServiceLabel}).empty();
  if (is_of_service || change.kind == kube::ChangeKind::kDeleted) unheard_.emplace_back(plural, change);
}

void OperatorLoop::join(SharedCluster& cluster, SpecFollower* specs) {
  cluster_ = &cluster;
  specs_ = specs;
  for (const auto& [plural, change] : std::exchange(unheard_, {})) pass_on(plural, change);
  for (const std::string& plural : listed_specs_) {
    if (specs != nullptr) specs->note_listed(plural);
  }
  if (has_no_specs_ && specs != nullptr) specs->note_absent();
  cluster.meet(placing_);
}

bool OperatorLoop::carry_out(const kube::Action& action) {
  const std::string line = fmt::format("{} {}", word_of(action.kind), action.text);
  if (options_.is_dry_run) {
    if (printed_.insert(line).second) say("would: " + line);
    return false;
  }
  const auto outcome = kube::write_carefully(client_, action.write);
  placing_.take_outcome(action, outcome);
  if (cluster_ != nullptr) cluster_->take_outcome(action, outcome, edges::steady_now());
  const bool is_done =
      outcome && (outcome->fate == kube::WriteFate::kDone || outcome->fate == kube::WriteFate::kUnknown);
  say(is_done ? line : fmt::format("{}: {}", line, outcome ? outcome->message : outcome.error().message));
  return is_done && action.kind != kube::ActionKind::kEvent;
}

void OperatorLoop::step() {
  take_news();
  if (cluster_ != nullptr) {
    for (const std::string& key : cluster_->take_unknown_gpus()) {
      say(fmt::format(
          "{} is in the cluster and not in the world of this folder, which keeps the GPUs with which it began; "
          "for all of them use another folder: berth operator --data OTHER",
          key));
    }
  }
  bool goes_on = true;
  for (int round = 0; round < kRoundsMax && goes_on; ++round) {
    goes_on = false;
    if (cluster_ != nullptr) cluster_->meet(placing_);
    for (const kube::Action& action : placing_.decide(edges::steady_now(), wall_text())) {
      if (carry_out(action)) goes_on = true;
    }
    if (cluster_ == nullptr) continue;
    for (const kube::Action& action : cluster_->decide(edges::steady_now())) {
      if (carry_out(action)) goes_on = true;
    }
  }
}

}  // namespace berth::apps
