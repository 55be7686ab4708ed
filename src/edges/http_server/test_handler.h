/// The handler of the tests: it describes the request in its answer, now or when the test says so, and serves
/// streams that share one list of events.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "domain/ports/http_server.h"

namespace berth::edges {

/// Events that all streams send from the first on.
class EventLog {
 public:
  void append(std::string event) {
    const std::scoped_lock lock(mutex_);
    events_.push_back(std::move(event));
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    is_ended_ = true;
  }
  void count_source(int change) {
    const std::scoped_lock lock(mutex_);
    source_count_ += change;
    changed_.notify_all();
  }
  /// Whether no source is left before the deadline.
  [[nodiscard]] bool wait_until_unused() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return source_count_ == 0; });
  }
  [[nodiscard]] HttpStreamPiece piece_from(std::size_t& next) const {
    const std::scoped_lock lock(mutex_);
    HttpStreamPiece piece;
    if (next < events_.size()) piece.text = events_[next++];
    piece.is_last = is_ended_ && next == events_.size();
    return piece;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> events_;
  bool is_ended_ = false;
  int source_count_ = 0;
  std::condition_variable changed_;
};

class LogSource : public HttpEventSource {
 public:
  explicit LogSource(EventLog& log) : log_(log) { log_.count_source(1); }
  LogSource(const LogSource&) = delete;
  LogSource& operator=(const LogSource&) = delete;
  ~LogSource() override { log_.count_source(-1); }
  [[nodiscard]] HttpStreamPiece next() override { return log_.piece_from(next_); }

 private:
  EventLog& log_;
  std::size_t next_ = 0;
};

class ThrowingSource : public HttpEventSource {
 public:
  [[nodiscard]] HttpStreamPiece next() override { throw std::runtime_error("no events"); }
};

/// Has nothing when first asked, but an event is published and all streams are woken before it returns.
class RacedSource : public HttpEventSource {
 public:
  explicit RacedSource(const std::function<void()>& wake) : wake_(wake) {}
  [[nodiscard]] HttpStreamPiece next() override {
    if (asked_count_++ == 0) wake_();
    return {asked_count_ == 2 ? "data: raced\n\n" : "", false};
  }

 private:
  const std::function<void()>& wake_;
  int asked_count_ = 0;
};

/// Replies that wait for the test to send them, each with its intended answer.
class WaitingReplies {
 public:
  struct Waiting {
    std::unique_ptr<HttpLateReply> reply;
    HttpResponse response;

    void send() { reply->send(std::move(response)); }
  };

  void add(Waiting waiting) {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(waiting));
    changed_.notify_all();
  }
  /// Ends the current or the next wait of `take`.
  void wake() {
    const std::scoped_lock lock(mutex_);
    is_woken_ = true;
    changed_.notify_all();
  }
  /// All waiting replies, once there are `count_min`; fewer if the deadline passes first.
  [[nodiscard]] std::vector<Waiting> take(std::size_t count_min = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return waiting_.size() >= count_min || is_woken_; });
    is_woken_ = false;
    return std::exchange(waiting_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiting> waiting_;
  bool is_woken_ = false;
};

/// Sends all replies, as many at a time as it finds.
class AnsweringThread {
 public:
  explicit AnsweringThread(WaitingReplies& replies) : replies_(replies), thread_([this] { answer(); }) {}
  AnsweringThread(const AnsweringThread&) = delete;
  AnsweringThread& operator=(const AnsweringThread&) = delete;
  ~AnsweringThread() {
    is_over_ = true;
    replies_.wake();
    thread_.join();
  }

 private:
  void answer() {
    while (!is_over_) {
      for (WaitingReplies::Waiting& each : replies_.take()) each.send();
    }
  }

  WaitingReplies& replies_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

/// Bodies in parts of 1 MB, each of another letter.
class PartsOfLetters {
 public:
  static constexpr std::size_t kPartBytes = 1'000'000;

  /// `empty_at` is the index of a missing part, `throws_at` of one that cannot be made.
  [[nodiscard]] HttpParts make(std::size_t count, std::optional<std::size_t> empty_at = std::nullopt,
                               std::optional<std::size_t> throws_at = std::nullopt) {
    ++open_count;
    const std::shared_ptr<void> token(this, [](PartsOfLetters* self) { --self->open_count; });
    return {.content_type = "text/plain",
            .headers = {{"X-Parts", "yes"}},
            .bytes = count * kPartBytes,
            .next = [this, token, empty_at, throws_at, index = std::size_t{0}]() mutable {
              ++asked_count;
              if (throws_at == index) throw std::runtime_error("on purpose");
              return empty_at == index ? std::string() : part(index++);
            }};
  }
  [[nodiscard]] static std::string part(std::size_t index) {
    return std::string(kPartBytes, static_cast<char>('a' + index % 26));
  }

  std::atomic<std::size_t> asked_count = 0;
  std::atomic<int> open_count = 0;  ///< bodies that may still be asked for parts
};

class TestHandler : public HttpHandler {
 public:
  /// Both are larger than what a connection buffers while its client does not read.
  static constexpr std::size_t kHugeBytes = 40'000'000;
  static constexpr std::size_t kPartCount = 40;

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override {
    const std::string first = request.path.empty() ? "" : request.path.front();
    if (first == "events") return HttpEventStream{{{"X-Stream", "yes"}}, std::make_unique<LogSource>(log)};
    if (first == "broken-events") return HttpEventStream{{}, std::make_unique<ThrowingSource>()};
    if (first == "raced-events") return HttpEventStream{{}, std::make_unique<RacedSource>(wake)};
    if (first == "throw") throw std::runtime_error("on purpose");
    if (first == "bad-header") return HttpResponse{200, "text/plain", {{"X", "a\r\nSet: b"}}, ""};
    if (first == "empty") return HttpResponse{204, "", {}, ""};
    if (first == "large") return HttpResponse{200, "text/plain", {}, std::string(3'000'000, 'x')};
    if (first == "huge") return HttpResponse{200, "text/plain", {}, std::string(kHugeBytes, 'x')};
    if (first == "parts") return parts.make(kPartCount);
    if (first == "missing-part") return parts.make(kPartCount, 2);
    if (first == "throwing-part") return parts.make(kPartCount, std::nullopt, 2);
    HttpResponse described{200, "text/plain", {{"X-Peer", request.peer}}, describe(request)};
    if (first == "later") {
      return HttpLater{
          [this, described](std::unique_ptr<HttpLateReply> reply) { later.add({std::move(reply), described}); }};
    }
    if (first == "start") return HttpLater{start};
    return described;
  }

  [[nodiscard]] std::optional<std::size_t> body_bytes_max(const HttpRequest& request) override {
    if (request.path != std::vector<std::string>{"bulk"}) return std::nullopt;
    return 100'000;
  }
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override {
    return {200, "application/json", {}, fmt::format("refused {}: {}", refusal.status, refusal.message)};
  }

  EventLog log;
  PartsOfLetters parts;
  std::function<void()> wake;  ///< for the raced events
  WaitingReplies later;
  std::function<void(std::unique_ptr<HttpLateReply> reply)> start;

 private:
  /// "PUT [a][b/c] x=1& k: body"
  static std::string describe(const HttpRequest& request) {
    std::string text = request.method + " ";
    for (const std::string& segment : request.path) text += "[" + segment + "]";
    for (const HttpField& pair : request.query) text += " " + pair.name + "=" + pair.value;
    if (const auto key = find_header(request.headers, "x-key")) text += " key=" + std::string(*key);
    return text + ": " + request.body;
  }
};

}  // namespace berth::edges
