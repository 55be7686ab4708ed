#include "edges/http_server/detail/streams.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "edges/http_server/detail/late_body.h"

namespace berth::edges::detail {
namespace {

// Server-sent events: a line that begins with a colon is a comment, which clients ignore.
constexpr const char* kComment = ":\n\n";

}  // namespace

StreamHub::StreamHub(Micros comment_interval, std::shared_ptr<Resumer> resumer)
    : comment_interval_(comment_interval.count()), resumer_(std::move(resumer)), watch_([this] { watch_times(); }) {}

StreamHub::~StreamHub() { close(); }

std::uint64_t StreamHub::wake_count() const {
  const std::scoped_lock lock(mutex_);
  return wake_count_;
}

StreamHub::Rest StreamHub::rest(Stream& stream, std::uint64_t wake_count) {
  const std::scoped_lock lock(mutex_);
  if (is_closed_) return Rest::kClosed;
  if (wake_count_ != wake_count) return Rest::kWoken;
  if (is_comment_due(stream)) return Rest::kCommentDue;
  waiting_.push_back(&stream);
  MHD_suspend_connection(&stream.connection_);
  changed_.notify_one();
  return Rest::kSuspended;
}

bool StreamHub::is_comment_due(const Stream& stream) const {
  return Clock::now() - stream.commented_at_ >= comment_interval_;
}

void StreamHub::wake_all() {
  const std::scoped_lock lock(mutex_);
  ++wake_count_;
  resume_older(Clock::time_point::max());
}

void StreamHub::close() {
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    resume_older(Clock::time_point::max());
    changed_.notify_one();
  }
  if (watch_.joinable()) watch_.join();
}

void StreamHub::watch_times() {
  std::unique_lock lock(mutex_);
  Clock::time_point gone_check = Clock::now();
  while (!is_closed_) {
    if (waiting_.empty()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, std::min(next_check(), gone_check));
    }
    if (Clock::now() >= gone_check) {
      resume_gone();
      gone_check = Clock::now() + kGoneCheckInterval;
    }
    resume_older(Clock::now() - comment_interval_);
  }
}

void StreamHub::resume_older(Clock::time_point since_max) {
  const auto older = std::partition(waiting_.begin(), waiting_.end(),
                                    [&](const Stream* each) { return each->commented_at_ > since_max; });
  std::for_each(older, waiting_.end(), [this](Stream* each) { resumer_->resume(each->connection_); });
  waiting_.erase(older, waiting_.end());
}

void StreamHub::resume_gone() {
  const auto gone = std::partition(waiting_.begin(), waiting_.end(),
                                   [](const Stream* each) { return !has_gone(socket_of(each->connection_)); });
  std::for_each(gone, waiting_.end(), [this](Stream* each) {
    each->is_gone_ = true;
    resumer_->resume(each->connection_);
  });
  waiting_.erase(gone, waiting_.end());
}

StreamHub::Clock::time_point StreamHub::next_check() const {
  const auto first = std::ranges::min_element(waiting_, {}, [](const Stream* each) { return each->commented_at_; });
  return (*first)->commented_at_ + comment_interval_;
}

Stream::Stream(StreamHub& hub, MHD_Connection& connection, std::unique_ptr<HttpEventSource> source)
    : hub_(hub), connection_(connection), source_(std::move(source)), commented_at_(std::chrono::steady_clock::now()) {
  ENSURE(source_ != nullptr);
}

ssize_t Stream::read(char* to, std::size_t bytes_max) {
  // An ordinary end, which the client will not see. After END_WITH_ERROR libmicrohttpd (0.9.75) keeps the connection
  // until an older one has timed out.
  if (is_gone_) return MHD_CONTENT_READER_END_OF_STREAM;
  if (sent_ == text_.size() && !refill()) return 0;
  if (sent_ == text_.size()) return MHD_CONTENT_READER_END_OF_STREAM;
  const std::size_t count = text_.copy(to, bytes_max, sent_);
  sent_ += count;
  return static_cast<ssize_t>(count);
}

bool Stream::refill() {
  text_.clear();
  sent_ = 0;
  // Each further turn needs another wake-up, so a source that is never woken is asked only once.
  while (!is_last_) {
    const std::uint64_t wake_count = hub_.wake_count();
    ask_source();
    if (!text_.empty() && !is_last_ && hub_.is_comment_due(*this)) add_comment();
    if (!text_.empty() || is_last_) break;
    switch (hub_.rest(*this, wake_count)) {
      case StreamHub::Rest::kSuspended:
        return false;
      case StreamHub::Rest::kWoken:
        break;
      case StreamHub::Rest::kCommentDue:
        add_comment();
        return true;
      case StreamHub::Rest::kClosed:
        is_last_ = true;
        break;
    }
  }
  return true;
}

void Stream::add_comment() {
  text_ += kComment;
  commented_at_ = std::chrono::steady_clock::now();
}

void Stream::ask_source() {
  try {
    HttpStreamPiece piece = source_->next();
    text_ = std::move(piece.text);
    is_last_ = piece.is_last;
  } catch (...) {
    // The status is already sent: we can only end the stream.
    text_.clear();
    is_last_ = true;
  }
}

}  // namespace berth::edges::detail
