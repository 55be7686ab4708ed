#include "apps/operator/operator_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "apps/operator/shared_cluster.h"
#include "apps/operator/spec_follower.h"
#include "base/json/node_text.h"
#include "kube/services/custom_resources.h"
#include "kube/standby/standby_book.h"

namespace berth::apps {
namespace {

constexpr int kRoundsMax = 4;  // of decisions that follow from one another, before changes are looked at again
constexpr std::int64_t kBurst = 400;
constexpr int kSlicesOfPage = 100;  // a ResourceSlice has up to 128 devices

bool is_of_specs(std::string_view plural) {
  return plural == kube::kTenants.plural || plural == kube::kGpuServices.plural;
}

}  // namespace

OperatorLoop::OperatorLoop(const std::shared_ptr<edges::KubeIdentity>& identity, OperatorLoopOptions options)
    : options_(std::move(options)),
      pace_(std::make_shared<edges::SharedPace>(options_.requests_per_second, kBurst)),
      crew_(identity, pace_,
            {.patience = Micros::seconds(5),
             .user_agent = "berth-operator",
             .is_stopped = options_.is_stopped,
             .timeout_max = Micros::seconds(10),
             .may_write = options_.may_write},
            options_.writer_count),
      placing_(options_.placing),
      is_leading_(!options_.is_standby) {
  std::uint64_t seed = static_cast<std::uint64_t>(edges::steady_now().micros());
  std::vector<kube::Resource> followed = kube::followed_resources();
  followed.insert(followed.end(), kube::kServiceResources.begin(), kube::kServiceResources.end());
  for (const kube::Resource& resource : followed) {
    kube::ReflectorOptions reflector = options_.reflector;
    if (resource.plural == kube::kResourceSlices.plural)
      reflector.page_size = std::min(reflector.page_size, kSlicesOfPage);
    followers_.push_back(std::make_unique<edges::KubeFollower>(resource, identity, pace_, queue_, reflector, ++seed));
  }
}

OperatorLoop::~OperatorLoop() { queue_.close(); }

void OperatorLoop::say(const std::string& line) const {
  if (options_.log) options_.log(line);
}

void OperatorLoop::take_news() {
  for (edges::KubeNews& news : queue_.take(options_.moment)) {
    news_count_ += std::ssize(news.changes) + (news.has_listed ? 1 : 0);
    for (const kube::Change& change : news.changes) {
      placing_.take(news.plural, change);
      if (book_ != nullptr) book_->take(news.plural, change);
      pass_on(news.plural, change);
    }
    if (news.has_listed) {
      if (news.list_order == list_order_) placing_.note_listed(news.plural);
      note_specs_listed(news.plural);
    }
    note_trouble(news.plural, news.trouble);
  }
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

bool OperatorLoop::has_listed_all() const {
  return placing_.is_synced() && (has_no_specs_ || listed_specs_.size() == kube::kServiceResources.size());
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

bool OperatorLoop::carry_out(const std::vector<kube::Action>& actions) {
  const auto line_of = [](const kube::Action& action) {
    return fmt::format("{} {}", word_of(action.kind), action.text);
  };
  if (options_.is_dry_run) {
    for (const kube::Action& action : actions) {
      const std::string line = line_of(action);
      if (printed_.insert(line).second) say("would: " + line);
    }
    return false;
  }
  std::vector<const kube::Write*> writes;
  writes.reserve(actions.size());
  for (const kube::Action& action : actions) writes.push_back(&action.write);
  const auto outcomes = crew_.carry_out(writes);
  bool is_any_done = false;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const auto& outcome = outcomes[i];
    placing_.take_outcome(actions[i], outcome);
    if (cluster_ != nullptr) cluster_->take_outcome(actions[i], outcome, edges::steady_now());
    const bool is_done =
        outcome && (outcome->fate == kube::WriteFate::kDone || outcome->fate == kube::WriteFate::kUnknown);
    is_any_done = is_any_done || (is_done && actions[i].kind != kube::ActionKind::kEvent);
    // Not held any more: the leadership says so once.
    if (!outcome && outcome.error().code == ErrorCode::kInterrupted) continue;
    const std::string line = line_of(actions[i]);
    say(is_done ? line : fmt::format("{}: {}", line, outcome ? outcome->message : outcome.error().message));
  }
  return is_any_done;
}

void OperatorLoop::lead(std::int64_t epoch) {
  is_leading_ = true;
  placing_.lead(epoch);
  ++list_order_;
  for (const auto& follower : followers_) follower->list_anew(list_order_);
}

void OperatorLoop::own(const std::vector<kube::OwnedPools>& own) {
  placing_.own(own);
  if (cluster_ != nullptr) cluster_->own(own);
}

void OperatorLoop::stand_by() { is_leading_ = false; }

void OperatorLoop::report_excess_gpus() {
  if (cluster_ == nullptr) return;
  for (const std::string& key : cluster_->take_excess_gpus()) {
    say(fmt::format("{} is not used: the folder has as many GPUs as kubernetes.gpus_max allows", key));
  }
}

void OperatorLoop::begin_again(const std::vector<device::LocalGpu>& fleet) {
  if (cluster_ != nullptr) cluster_->begin_again(fleet, placing_);
}

void OperatorLoop::step() {
  take_news();
  report_excess_gpus();
  // Also the session hears only of lists that are complete: GPUs of pools that are owned anew, and who has them.
  if (!is_leading_ || !placing_.is_synced()) return;
  bool goes_on = true;
  for (int round = 0; round < kRoundsMax && goes_on; ++round) {
    if (cluster_ != nullptr) cluster_->meet(placing_);
    goes_on = carry_out(placing_.decide(edges::steady_now(), edges::wall_text()));
    if (cluster_ != nullptr && carry_out(cluster_->decide(edges::steady_now()))) goes_on = true;
  }
}

}  // namespace berth::apps
