#include "surface/openai_api/detail/forwarded_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "surface/openai_api/detail/call_fields.h"
#include "surface/openai_api/detail/forwarded_headers.h"

namespace berth::openai::detail {
namespace {

// A longer answer is passed on as it comes, and its usage is not known.
constexpr std::size_t kWholeBytesMax = std::size_t{16} << 20U;
constexpr std::string_view kEventStreamType = "text/event-stream";

bool is_event_stream(std::string_view content_type) {
  return is_same_header(content_type.substr(0, kEventStreamType.size()), kEventStreamType);
}

}  // namespace

bool OpenCalls::is_closing() const {
  const std::scoped_lock lock(mutex_);
  return is_closing_;
}

std::size_t OpenCalls::count() const {
  const std::scoped_lock lock(mutex_);
  return count_;
}

bool OpenCalls::enter() {
  const std::scoped_lock lock(mutex_);
  if (is_refusing_) return false;
  ++count_;
  return true;
}

void OpenCalls::leave() {
  const std::scoped_lock lock(mutex_);
  --count_;
  changed_.notify_all();
}

void OpenCalls::begin(HttpCallNumber number) {
  const std::scoped_lock lock(mutex_);
  numbers_.insert(number);
  if (is_closing_) client_.cancel(number);
}

void OpenCalls::end(HttpCallNumber number) {
  const std::scoped_lock lock(mutex_);
  numbers_.erase(number);
}

void OpenCalls::refuse_new() {
  const std::scoped_lock lock(mutex_);
  is_refusing_ = true;
}

void OpenCalls::close() {
  std::unique_lock lock(mutex_);
  is_refusing_ = true;
  is_closing_ = true;
  for (const HttpCallNumber number : numbers_) client_.cancel(number);
  changed_.wait(lock, [this] { return count_ == 0; });
}

ForwardedCall::~ForwardedCall() {
  // What watches the client must not outlive the open calls.
  writer_.reset();
  reply_.reset();
  options_.in_flight.reset();
  options_.calls.end(number_);
  options_.calls.leave();
}

void ForwardedCall::on_start(HttpCallNumber number) {
  number_ = number;
  options_.calls.begin(number);
  reply_->on_gone([&client = options_.calls.client(), number] { client.cancel(number); });
}

void ForwardedCall::on_head(HttpReplyHead head) {
  head_ = std::move(head);
  content_type_ = find_header(head_.headers, "Content-Type").value_or("");
  is_events_ = is_event_stream(content_type_);
  is_passed_at_once_ = is_events_ || (options_.is_stream && head_.status == 200);
}

HttpReading ForwardedCall::on_bytes(std::string_view bytes) {
  if (is_events_) return pass(events_.take(bytes));
  if (is_passed_at_once_) return pass(std::string(bytes));
  body_ += bytes;
  if (body_.size() <= kWholeBytesMax) return HttpReading::kGoesOn;
  is_passed_at_once_ = true;
  return pass(std::exchange(body_, {}));
}

HttpReading ForwardedCall::pass(std::string text) {
  if (text.empty()) return HttpReading::kGoesOn;
  if (writer_ != nullptr) {
    return writer_->write(text) == HttpBodyFlow::kGoesOn ? HttpReading::kGoesOn : HttpReading::kPaused;
  }
  HttpBodyHead head{.status = head_.status,
                    .content_type = content_type_,
                    .headers = headers_to_client(head_.headers),
                    .first = std::move(text)};
  writer_ =
      reply_->begin(std::move(head), [&client = options_.calls.client(), number = number_] { client.resume(number); });
  return HttpReading::kGoesOn;
}

void ForwardedCall::on_end(Result<void> outcome) {
  if (outcome && breaks_off()) outcome = fail(ErrorCode::kUnavailable, "the stream ended without [DONE]");
  if (outcome) {
    end_well();
    return report(ProxiedOutcome::kAnswered);
  }
  const bool is_gone = outcome.error().code == ErrorCode::kInterrupted && !options_.calls.is_closing();
  if (writer_ != nullptr && is_events_ && events_.is_done()) {
    writer_->end();  // the client has all of it
    return report(ProxiedOutcome::kAnswered);
  }
  fail_with(outcome.error());
  report(is_gone ? ProxiedOutcome::kCancelled : ProxiedOutcome::kFailed);
}

void ForwardedCall::end_well() {
  std::string kept = events_.take_kept();
  options_.record.status = head_.status;
  options_.record.usage = (is_events_ ? events_.usage() : usage_in(body_)).value_or(TokenUsage());
  if (writer_ == nullptr) {
    std::string body = is_events_ ? std::move(kept) : std::move(body_);
    reply_->send({head_.status, content_type_, headers_to_client(head_.headers), std::move(body)});
    return;
  }
  if (!kept.empty()) writer_->write(kept);
  writer_->end();
}

bool ForwardedCall::breaks_off() const {
  const bool has_length =
      find_header(head_.headers, "Content-Length") || find_header(head_.headers, "Transfer-Encoding");
  return is_events_ && head_.status == 200 && !has_length && !events_.is_done() && writer_ != nullptr;
}

void ForwardedCall::fail_with(const Error& error) {
  const ApiError said = api_error(error);
  options_.record.usage = events_.usage().value_or(TokenUsage());
  options_.record.status = said.status;
  if (writer_ == nullptr) return reply_->send(error_answer(said));
  options_.record.status = head_.status;
  if (is_events_) {
    writer_->write(fmt::format("{}data: {}\n\n", events_.ending(), error_text(said)));
    writer_->end();
  }
  writer_.reset();  // other bodies end without the mark of a complete one
}

ApiError ForwardedCall::api_error(const Error& error) const {
  std::string_view what = error.message;
  if (what.starts_with(options_.url)) what.remove_prefix(std::min(options_.url.size() + 2, what.size()));
  const auto with = [&](int status, std::string_view code, std::string message) {
    return ApiError{.status = status, .type = "server_error", .code = code, .message = std::move(message)};
  };
  switch (error.code) {
    case ErrorCode::kTimedOut:
      return with(504, "backend_timed_out", fmt::format("backend {}: {}", options_.backend, what));
    case ErrorCode::kInterrupted:
      return with(503, "server_stops", "the server is about to end");
    case ErrorCode::kNoServer:
      return with(502, "backend_unavailable", fmt::format("backend {}: {}", options_.backend, what));
    case ErrorCode::kInvalidInput:
    case ErrorCode::kMalformed:
    case ErrorCode::kNotFound:
    case ErrorCode::kUnavailable:
      break;
  }
  return with(502, "backend_broken", fmt::format("backend {}: {}", options_.backend, what));
}

void ForwardedCall::report(ProxiedOutcome outcome) {
  options_.record.outcome = outcome;
  options_.on_end(std::move(options_.record));
}

}  // namespace berth::openai::detail
