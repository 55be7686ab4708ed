#include "edges/http_server/detail/late_answers.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::edges::detail {

LateHub::Rest LateHub::rest(LateAnswer& answer, MHD_Connection& connection) {
  const std::scoped_lock lock(mutex_);
  ENSURE(answer.connection == nullptr);
  if (answer.is_given) return Rest::kGiven;
  if (is_closed_) return Rest::kClosed;
  waiting_.push_back(&answer);
  answer.connection = &connection;
  MHD_suspend_connection(&connection);
  return Rest::kSuspended;
}

void LateHub::give(LateAnswer& answer, std::optional<HttpResponse> response) {
  const std::scoped_lock lock(mutex_);
  answer.response = std::move(response);
  answer.is_given = true;
  if (answer.connection == nullptr) return;
  const auto at = std::ranges::find(waiting_, &answer);
  ENSURE(at != waiting_.end());
  *at = waiting_.back();
  waiting_.pop_back();
  resume(answer);
}

void LateHub::close() {
  const std::scoped_lock lock(mutex_);
  is_closed_ = true;
  for (LateAnswer* each : waiting_) resume(*each);
  waiting_.clear();
}

void LateHub::resume(LateAnswer& answer) { MHD_resume_connection(std::exchange(answer.connection, nullptr)); }

LateReply::LateReply(std::shared_ptr<LateHub> hub, std::shared_ptr<LateAnswer> answer)
    : hub_(std::move(hub)), answer_(std::move(answer)) {}

LateReply::~LateReply() { give(std::nullopt); }

void LateReply::send(HttpResponse response) { give(std::move(response)); }

void LateReply::give(std::optional<HttpResponse> response) {
  if (const auto answer = std::exchange(answer_, nullptr)) hub_->give(*answer, std::move(response));
}

}  // namespace berth::edges::detail
