#include "kube/lease/lease.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "kube/client/status.h"

namespace berth::kube {
namespace {

constexpr int kNoLease = 404;
/// Of a Lease that was released, for clients that wait for its end instead of reading its holder.
constexpr std::int64_t kReleasedSeconds = 1;
constexpr std::int64_t kLeaseSecondsMax = 24 * 3600;
constexpr std::int64_t kCountMax = 2'147'483'647;  // int32 in the API

std::int64_t count_at(const yaml::Node& object, std::initializer_list<std::string_view> keys, std::int64_t otherwise) {
  const yaml::Node* const found = json::find_at(object, keys);
  const auto* const scalar = found == nullptr ? nullptr : std::get_if<yaml::Scalar>(&found->value);
  if (scalar == nullptr) return otherwise;
  const auto count = parse_count(scalar->text, kCountMax);
  return count ? *count : otherwise;
}

}  // namespace

Result<void> check_lease_options(const LeaseOptions& options) {
  const bool is_whole = options.duration.count() % kMicrosPerSecond == 0;
  if (is_whole && Micros(0) < options.retry && options.retry < options.renew_deadline &&
      options.renew_deadline < options.duration && options.duration <= Micros::seconds(kLeaseSecondsMax)) {
    return {};
  }
  return invalid(fmt::format(
      "lease: wanted retry < renew deadline < duration, the duration in whole seconds, found {}, {} and {} s",
      options.retry.to_seconds(), options.renew_deadline.to_seconds(), options.duration.to_seconds()));
}

LeaseRecord read_lease(const yaml::Node& object) {
  const auto text = [&](std::initializer_list<std::string_view> keys) {
    return std::string(json::text_at(object, keys));
  };
  const std::int64_t seconds = count_at(object, {"spec", "leaseDurationSeconds"}, 0);
  return {.version = text({"metadata", "resourceVersion"}),
          .uid = text({"metadata", "uid"}),
          .holder = text({"spec", "holderIdentity"}),
          .duration = Micros::seconds(std::min(seconds, kLeaseSecondsMax)),
          .transitions = count_at(object, {"spec", "leaseTransitions"}, 0)};
}

LeaseHolder::LeaseHolder(LeaseOptions options) : options_(std::move(options)) {
  ENSURE(check_lease_options(options_) && !options_.identity.empty());
}

bool LeaseHolder::is_free(Instant now) const {
  if (!record_ || record_->holder.empty()) return true;
  return now >= observed_at_ + std::max(record_->duration, options_.duration);
}

Write LeaseHolder::write_of(std::string holder, std::int64_t transitions, const std::string& wall) const {
  const bool is_change = !record_ || record_->holder != holder;
  const std::int64_t seconds = holder.empty() ? kReleasedSeconds : options_.duration.count() / kMicrosPerSecond;
  yaml::Node body = map_node();
  yaml::Node& spec = put(body, "spec", map_node());
  if (is_change && !holder.empty()) put(spec, "acquireTime", text_node(wall));
  put(spec, "holderIdentity", text_node(std::move(holder)));
  put(spec, "leaseDurationSeconds", number_node(seconds));
  put(spec, "leaseTransitions", number_node(transitions));
  put(spec, "renewTime", text_node(wall));
  if (!record_)
    return {.kind = WriteKind::kCreate, .resource = kLeases, .name = options_.name, .body = std::move(body)};
  return {.kind = WriteKind::kPatch,
          .resource = kLeases,
          .name = options_.name,
          .uid = record_->uid,
          .version = record_->version,
          .body = std::move(body)};
}

LeaseHolder::Step LeaseHolder::next(Instant now, const std::string& wall) const {
  if (is_released_) return WaitStep{Instant::never()};
  if (now < next_at_) return WaitStep{next_at_};
  const bool is_own = record_ && record_->holder == options_.identity;
  if (must_read_ || !(is_own || is_free(now))) return ReadStep{{.target = object_path(kLeases, options_.name)}};
  // The first Lease has epoch 1: 0 is that of operators that had none.
  const std::int64_t transitions = record_ ? record_->transitions + (is_own ? 0 : 1) : 1;
  return WriteStep{write_of(options_.identity, transitions, wall)};
}

void LeaseHolder::observe(LeaseRecord record, Instant now) {
  if (!record_ || record_->version != record.version || record_->uid != record.uid) observed_at_ = now;
  record_ = std::move(record);
  leader_ = record_->holder;
  // Another one leads: nothing more may be written, however young the last renewal is.
  if (leader_ != options_.identity) may_write_until_ = Instant(INT64_MIN);
}

void LeaseHolder::look_again(Instant at) {
  must_read_ = true;
  next_at_ = at;
}

void LeaseHolder::fail_with(Error error, Instant now) {
  trouble_ = std::move(error);
  look_again(now + Micros(options_.retry.count() / 2));
}

void LeaseHolder::take_read(const Result<KubeAnswer>& answer, Instant now) {
  const KubeCall call{.target = object_path(kLeases, options_.name)};
  if (!answer) return fail_with(answer.error(), now);
  if (answer->status == kNoLease) {
    record_.reset();
    leader_.clear();
    may_write_until_ = Instant(INT64_MIN);
  } else if (answer->status != 200) {
    return fail_with(error_of(call, *answer), now);
  } else {
    const auto object = json::parse_document(answer->body, "lease", json::kNoLimits);
    if (!object) return fail_with(object.error(), now);
    observe(read_lease(*object), now);
  }
  trouble_.reset();
  if (is_free(now) || leader_ == options_.identity) {
    must_read_ = false;
    next_at_ = now;
    return;
  }
  is_known_ = true;
  const Instant expires = observed_at_ + std::max(record_->duration, options_.duration);
  look_again(std::min(expires, now + Micros(options_.retry.count() / 2)));
}

void LeaseHolder::take_write(const Result<WriteOutcome>& outcome, Instant sent_at, Instant now) {
  if (!outcome) return fail_with(outcome.error(), now);
  const bool has_object = std::holds_alternative<yaml::Map>(outcome->object.value);
  if (has_object && (outcome->fate == WriteFate::kDone || outcome->fate == WriteFate::kUnknown)) {
    observe(read_lease(outcome->object), now);
    if (leader_ == options_.identity) {
      // Nobody else writes this identity: a lost answer hid a success.
      epoch_ = record_->transitions;
      may_write_until_ = sent_at + options_.renew_deadline;
      trouble_.reset();
      is_known_ = true;
      must_read_ = false;
      next_at_ = now + options_.retry;
      return;
    }
  }
  // Another one was faster, or the Lease has gone.
  if (outcome->fate == WriteFate::kRefused || (outcome->fate == WriteFate::kGone && !record_)) {
    return fail_with({ErrorCode::kInvalidInput, outcome->message}, now);
  }
  look_again(now);
}

std::optional<Write> LeaseHolder::release(Instant now, const std::string& wall) {
  const bool is_leader = may_write(now) && record_ && record_->holder == options_.identity;
  is_released_ = true;
  may_write_until_ = Instant(INT64_MIN);
  if (!is_leader) return std::nullopt;
  return write_of("", record_->transitions, wall);
}

}  // namespace berth::kube
