/// One request under way between a client and a backend.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/core/instant.h"
#include "domain/ports/http_server.h"
#include "domain/ports/http_stream_client.h"
#include "surface/openai_api/detail/error_answer.h"
#include "surface/openai_api/detail/event_stream.h"
#include "surface/openai_api/proxied_request.h"

namespace berth::openai::detail {

/// The calls that are open. Any thread.
class OpenCalls {
 public:
  explicit OpenCalls(HttpStreamClient& client) : client_(client) {}

  [[nodiscard]] HttpStreamClient& client() const { return client_; }
  [[nodiscard]] bool is_closing() const;
  [[nodiscard]] std::size_t count() const;

  /// False if no new ones are accepted.
  [[nodiscard]] bool enter();
  void leave();
  void begin(HttpCallNumber number);
  void end(HttpCallNumber number);

  void refuse_new();
  /// Cancels all, and waits until they have left.
  void close();

 private:
  HttpStreamClient& client_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<HttpCallNumber> numbers_;
  std::size_t count_ = 0;
  bool is_refusing_ = false;
  bool is_closing_ = false;
};

/// Counts a request of a backend until it is destroyed.
class InFlight {
 public:
  /// Nothing if there are as many as may be.
  [[nodiscard]] static std::shared_ptr<InFlight> enter(std::atomic<std::int64_t>& count, std::int64_t count_max) {
    if (count.fetch_add(1) < count_max) return std::make_shared<InFlight>(count);
    count.fetch_sub(1);
    return nullptr;
  }
  explicit InFlight(std::atomic<std::int64_t>& count) : count_(count) {}
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  ~InFlight() { count_.fetch_sub(1); }

 private:
  std::atomic<std::int64_t>& count_;
};

struct ForwardedCallOptions {
  OpenCalls& calls;
  std::string backend;     ///< its name, for messages
  std::string url;         ///< of the call: messages of the client begin with it
  bool is_stream = false;  ///< asked for
  ProxiedRequest record;
  std::shared_ptr<InFlight> in_flight;
  const std::function<void(ProxiedRequest)>& on_end;  ///< gets the record with outcome and usage
};

/// Requires: `calls` has been entered for it.
class ForwardedCall final : public HttpReplyReader {
 public:
  ForwardedCall(ForwardedCallOptions options, std::unique_ptr<HttpLateReply> reply)
      : options_(std::move(options)), reply_(std::move(reply)) {}
  ForwardedCall(const ForwardedCall&) = delete;
  ForwardedCall& operator=(const ForwardedCall&) = delete;
  ~ForwardedCall() override;

  void on_start(HttpCallNumber number) override;
  void on_head(HttpReplyHead head) override;
  [[nodiscard]] HttpReading on_bytes(std::string_view bytes) override;
  void on_end(Result<void> outcome) override;

 private:
  [[nodiscard]] HttpReading pass(std::string text);
  void end_well();
  void fail_with(const Error& error);
  [[nodiscard]] ApiError api_error(const Error& error) const;
  [[nodiscard]] bool breaks_off() const;
  void report(ProxiedOutcome outcome);

  ForwardedCallOptions options_;
  HttpCallNumber number_ = 0;
  std::unique_ptr<HttpLateReply> reply_;
  std::unique_ptr<HttpBodyWriter> writer_;  ///< null until the first bytes are passed on
  HttpReplyHead head_;
  std::string content_type_;
  std::string body_;  ///< of an answer that is passed on as a whole
  EventStream events_;
  bool is_events_ = false;
  bool is_passed_at_once_ = false;
};

}  // namespace berth::openai::detail
