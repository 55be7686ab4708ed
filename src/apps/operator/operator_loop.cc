#include "apps/operator/operator_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace berth::apps {
namespace {

constexpr int kRoundsMax = 4;  // of decisions that follow from one another, before changes are looked at again
constexpr std::int64_t kBurst = 400;

}  // namespace

OperatorLoop::OperatorLoop(std::shared_ptr<edges::KubeIdentity> identity, OperatorLoopOptions options)
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
  for (const kube::Resource& resource : kube::followed_resources()) {
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
    for (const kube::Change& change : news.changes) placing_.take(news.plural, change);
    if (news.has_listed && news.list_order == list_order_) placing_.note_listed(news.plural);
    const std::string plural(news.plural);
    if (news.trouble && troubled_.emplace(plural, edges::steady_now()).second)
      say(fmt::format("{}: {}", plural, news.trouble->message));
    if (!news.trouble && troubled_.erase(plural) > 0) say(fmt::format("{}: followed again", plural));
  }
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
  for (const kube::Action& action : actions) writes.push_back(&action.write);
  const auto outcomes = crew_.carry_out(writes);
  bool is_any_done = false;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const auto& outcome = outcomes[i];
    placing_.take_outcome(actions[i], outcome);
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

std::optional<Instant> OperatorLoop::away_since() const {
  std::optional<Instant> since;
  for (const auto& [plural, began] : troubled_) since = std::min(since.value_or(began), began);
  return since;
}

void OperatorLoop::lead(std::int64_t epoch) {
  is_leading_ = true;
  placing_.lead(epoch);
  ++list_order_;
  for (const auto& follower : followers_) follower->list_anew(list_order_);
}

void OperatorLoop::stand_by() { is_leading_ = false; }

void OperatorLoop::step() {
  take_news();
  if (!is_leading_) return;
  for (int round = 0; round < kRoundsMax; ++round) {
    if (!carry_out(placing_.decide(edges::steady_now(), edges::wall_text()))) return;
  }
}

}  // namespace berth::apps
