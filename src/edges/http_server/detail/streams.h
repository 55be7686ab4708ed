/// Open event streams: each waits as a suspended connection, so that it costs no thread, until it is woken or a comment
/// is due.
#pragma once

#include <microhttpd.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/core/instant.h"
#include "domain/ports/http_server.h"
#include "edges/http_server/detail/resumer.h"

namespace berth::edges::detail {

class Stream;

/// How soon a waiting stream whose client has gone is removed.
inline constexpr std::chrono::milliseconds kGoneCheckInterval{500};

/// The waiting streams, and the thread that wakes those that are due for a comment, or whose client has gone:
/// libmicrohttpd does not watch suspended connections.
///
/// A suspended connection is not touched by libmicrohttpd, so it exists until this class resumes it. One lock and a
/// count of wake-ups guarantee that it is not resumed twice, and that no wake-up between a source's "nothing now" and
/// the suspension is lost.
class StreamHub {
 public:
  enum class Rest {
    kSuspended,   ///< the stream waits
    kWoken,       ///< there was a wake-up since `wake_count`: ask the source again
    kCommentDue,  ///< send a comment
    kClosed,      ///< the server stops
  };

  StreamHub(Micros comment_interval, std::shared_ptr<Resumer> resumer);
  StreamHub(const StreamHub&) = delete;
  StreamHub& operator=(const StreamHub&) = delete;
  ~StreamHub();

  [[nodiscard]] std::uint64_t wake_count() const;
  /// Suspends the stream's connection, unless there is already something to do for it.
  [[nodiscard]] Rest rest(Stream& stream, std::uint64_t wake_count);
  void wake_all();
  /// Whether the stream's latest comment, or its beginning, is long enough ago. Called by the stream itself.
  [[nodiscard]] bool is_comment_due(const Stream& stream) const;
  /// From now on no stream waits. A second call does nothing.
  void close();

 private:
  using Clock = std::chrono::steady_clock;

  void watch_times();
  /// Resumes the streams that got their latest comment at `since_max` or earlier. Requires: the lock is held.
  void resume_older(Clock::time_point since_max);
  /// Resumes the streams whose clients have closed the connection, so that they end. Requires: the lock is held.
  void resume_gone();
  [[nodiscard]] Clock::time_point next_check() const;

  const std::chrono::microseconds comment_interval_;
  const std::shared_ptr<Resumer> resumer_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Stream*> waiting_;
  std::uint64_t wake_count_ = 0;
  bool is_closed_ = false;
  std::thread watch_;
};

/// The content of one response.
class Stream {
 public:
  Stream(StreamHub& hub, MHD_Connection& connection, std::unique_ptr<HttpEventSource> source);

  /// Copies the next bytes; 0 if the connection is suspended, negative (libmicrohttpd's value) at the end.
  [[nodiscard]] ssize_t read(char* to, std::size_t bytes_max);

 private:
  friend class StreamHub;

  /// Asks the source until there is text, the end, or a reason to wait; false if it waits.
  [[nodiscard]] bool refill();
  void ask_source();
  void add_comment();

  StreamHub& hub_;
  MHD_Connection& connection_;
  std::unique_ptr<HttpEventSource> source_;
  std::string text_;
  std::size_t sent_ = 0;  ///< bytes of text_
  bool is_last_ = false;
  bool is_gone_ = false;  ///< the client has closed the connection; written by the hub while the stream waits
  std::chrono::steady_clock::time_point commented_at_;
};

}  // namespace berth::edges::detail
