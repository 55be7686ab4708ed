#include "edges/replica_peer/replica_reader.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "edges/replica_peer/replica_peer.h"
#include "serving/replica_proof/replica_proof.h"

namespace berth::edges {
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};

/// What its reader, on the client's thread, and the one who waits share: either may end first.
class AwaitedReply {
 public:
  explicit AwaitedReply(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  void take_head(HttpReplyHead head) {
    const std::scoped_lock lock(mutex_);
    reply_.status = head.status;
    reply_.headers = std::move(head.headers);
  }
  /// False if it is too large.
  [[nodiscard]] bool take(std::string_view bytes) {
    const std::scoped_lock lock(mutex_);
    is_too_large_ = is_too_large_ || reply_.body.size() + bytes.size() > bytes_max_;
    if (!is_too_large_) reply_.body += bytes;
    return !is_too_large_;
  }
  void end(Result<void> outcome) {
    const std::scoped_lock lock(mutex_);
    outcome_ = std::move(outcome);
    changed_.notify_all();
  }
  /// Nobody waits any more.
  void leave(HttpStreamClient& client) {
    const std::scoped_lock lock(mutex_);
    is_left_ = true;
    if (number_ != 0) client.cancel(number_);
  }
  void start(HttpStreamClient& client, HttpCallNumber number) {
    const std::scoped_lock lock(mutex_);
    number_ = number;
    if (is_left_) client.cancel(number_);
  }
  /// Whether it has ended after a short while.
  [[nodiscard]] bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLookEvery, [this] { return outcome_.has_value(); });
  }
  /// Requires: it has ended.
  [[nodiscard]] Result<HttpReply> result() {
    const std::scoped_lock lock(mutex_);
    if (is_too_large_) return fail(ErrorCode::kUnavailable, fmt::format("wanted at most {} bytes", bytes_max_));
    if (!*outcome_) return pass_on(outcome_->error());
    return std::move(reply_);
  }

 private:
  const std::size_t bytes_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  HttpReply reply_;
  HttpCallNumber number_ = 0;
  bool is_left_ = false;
  bool is_too_large_ = false;
  std::optional<Result<void>> outcome_;
};

class AwaitedReader final : public HttpReplyReader {
 public:
  AwaitedReader(HttpStreamClient& client, std::shared_ptr<AwaitedReply> reply)
      : client_(client), reply_(std::move(reply)) {}

  void on_start(HttpCallNumber number) override {
    number_ = number;
    reply_->start(client_, number);
  }
  void on_head(HttpReplyHead head) override { reply_->take_head(std::move(head)); }
  HttpReading on_bytes(std::string_view bytes) override {
    if (!reply_->take(bytes)) client_.cancel(number_);
    return HttpReading::kGoesOn;
  }
  void on_end(Result<void> outcome) override { reply_->end(std::move(outcome)); }

 private:
  HttpStreamClient& client_;
  const std::shared_ptr<AwaitedReply> reply_;
  HttpCallNumber number_ = 0;
};

HttpCall call_of(const Endpoint& replica, const std::string& path, Micros patience) {
  HttpCall call{.url = replica.url + path, .headers = {}, .body = {}, .timeout = patience};
  if (!replica.key.empty()) {
    call.headers.push_back({std::string(serving::kKeyHeader), serving::request_token(replica.key)});
  }
  call.headers.push_back({std::string(serving::kSliceHeader), replica.slice});
  call.headers.push_back({std::string(serving::kGenerationHeader), fmt::format("{}", replica.generation)});
  call.peer = peer_of(std::make_shared<const Endpoint>(replica));
  return call;
}

}  // namespace

Result<HttpReply> get_from_replica(HttpStreamClient& client, const Endpoint& replica, const std::string& path,
                                   const ReplicaReading& reading) {
  const auto reply = std::make_shared<AwaitedReply>(reading.bytes_max);
  client.start(call_of(replica, path, reading.patience), std::make_unique<AwaitedReader>(client, reply));
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(reading.patience.count());
  while (!reply->wait()) {
    const bool is_stopped = reading.is_stopped && reading.is_stopped();
    if (!is_stopped && std::chrono::steady_clock::now() < until) continue;
    reply->leave(client);
    if (is_stopped) return fail(ErrorCode::kInterrupted, "stopped");
    return fail(ErrorCode::kTimedOut,
                fmt::format("{}: no whole answer within {} s", replica.url, reading.patience.to_seconds()));
  }
  return reply->result();
}

}  // namespace berth::edges
