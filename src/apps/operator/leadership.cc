#include "apps/operator/leadership.h"

#include <fmt/format.h>

#include <utility>

#include "apps/operator/operator_loop.h"

namespace berth::apps {
namespace {

constexpr Micros kRuleRetry = Micros::seconds(1);

}  // namespace

Leadership::Leadership(const edges::LeaseKeeper& keeper, LeadershipOptions options)
    : keeper_(keeper), options_(std::move(options)) {}

void Leadership::say(const std::string& line) {
  if (line == said_) return;
  said_ = line;
  if (options_.log) options_.log(line);
}

Result<void> Leadership::step(OperatorLoop& loop) {
  const edges::LeaseStanding standing = keeper_.standing();
  if (!standing.is_leader) return wait(standing, loop);
  if (prepared_epoch_ != standing.epoch) return prepare(loop, standing);
  const bool is_done = loop.is_leading() && !is_renewing_;
  if (is_done || edges::steady_now() < lead_at_) return {};
  is_renewing_ = false;
  if (options_.on_prepared) options_.on_prepared();
  loop.lead(standing.epoch);
  led_epoch_ = standing.epoch;
  is_settled_ = has_led_ = true;
  say(fmt::format("leads, epoch {}", standing.epoch));
  return {};
}

bool Leadership::renew(const OperatorLoop& loop) {
  prepared_epoch_.reset();
  is_renewing_ = loop.is_leading();
  return is_renewing_;
}

Result<void> Leadership::wait(const edges::LeaseStanding& standing, OperatorLoop& loop) {
  if (prepared_epoch_ || is_renewing_) {
    loop.stand_by();
    prepared_epoch_.reset();
    is_renewing_ = false;
    say("leads no longer: the lease is lost");
  }
  // A namespace that does not exist, or a right that is missing: bad input, unless this operator has led with it.
  const bool is_refused = standing.trouble && standing.trouble->code == ErrorCode::kInvalidInput;
  if (is_refused && !is_settled_) return pass_on(*standing.trouble);
  if (standing.trouble) {
    say("lease: " + standing.trouble->message);
  } else if (standing.is_known && !standing.leader.empty()) {
    is_settled_ = true;
    say(fmt::format("stands by: {} leads", standing.leader));
  }
  return {};
}

Result<void> Leadership::prepare(OperatorLoop& loop, const edges::LeaseStanding& standing) {
  is_renewing_ = is_renewing_ && led_epoch_ == standing.epoch;
  if (loop.is_leading() && !is_renewing_) loop.stand_by();
  const Instant now = edges::steady_now();
  if (now < retry_at_) return {};
  const auto is_any_new = options_.write_rules();
  if (!is_any_new) {
    retry_at_ = now + kRuleRetry;
    if (is_any_new.error().code == ErrorCode::kInvalidInput && !has_led_) return pass_on(is_any_new.error());
    say("rules: " + is_any_new.error().message);
    return {};
  }
  prepared_epoch_ = standing.epoch;
  lead_at_ = *is_any_new ? edges::steady_now() + options_.rule_grace : now;
  return {};
}

}  // namespace berth::apps
