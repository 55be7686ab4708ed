#include "apps/operator/operator_loop.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <utility>

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
    if (news.has_listed) placing_.note_listed(news.plural);
    const std::string plural(news.plural);
    if (news.trouble && troubled_.insert(plural).second) say(fmt::format("{}: {}", plural, news.trouble->message));
    if (!news.trouble && troubled_.erase(plural) > 0) say(fmt::format("{}: followed again", plural));
  }
}

bool OperatorLoop::carry_out(const kube::Action& action) {
  const std::string line = fmt::format("{} {}", word_of(action.kind), action.text);
  if (options_.is_dry_run) {
    if (printed_.insert(line).second) say("would: " + line);
    return false;
  }
  const auto outcome = kube::write_carefully(client_, action.write);
  placing_.take_outcome(action, outcome);
  const bool is_done =
      outcome && (outcome->fate == kube::WriteFate::kDone || outcome->fate == kube::WriteFate::kUnknown);
  say(is_done ? line : fmt::format("{}: {}", line, outcome ? outcome->message : outcome.error().message));
  return is_done && action.kind != kube::ActionKind::kEvent;
}

void OperatorLoop::step() {
  take_news();
  bool goes_on = true;
  for (int round = 0; round < kRoundsMax && goes_on; ++round) {
    goes_on = false;
    for (const kube::Action& action : placing_.decide(edges::steady_now(), wall_text())) {
      if (carry_out(action)) goes_on = true;
    }
  }
}

}  // namespace berth::apps
