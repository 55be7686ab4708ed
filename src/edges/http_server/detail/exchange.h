/// One request while it arrives: its parsed parts, and whether it will be refused.
#pragma once

#include <microhttpd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "domain/ports/http_server.h"
#include "edges/http_server/detail/late_answers.h"
#include "edges/http_server/http_server.h"

namespace berth::edges::detail {

/// What to do with a request after its headers, or after a part of its body.
enum class Progress {
  kRead,         ///< read the rest of the body
  kRefuse,       ///< answer now and close the connection
  kRefuseEarly,  ///< answer now, read the rest of the body, and close the connection
  kClose,        ///< close the connection without another answer
};

/// The texts of a request line, in the memory of libmicrohttpd.
struct RequestLine {
  const char* method = nullptr;
  const char* target = nullptr;  ///< its end is overwritten by now
  const char* version = nullptr;
};

/// Counts the requests with large bodies. Any thread.
class LargeBodies {
 public:
  explicit LargeBodies(unsigned count_max) : count_max_(count_max) {}
  /// Counts one more, if the limit allows it; returns whether it does. A share (HttpHandler::share_of) with as many
  /// as are free gets no more, so that one alone cannot have all, however many there are.
  [[nodiscard]] bool enter(const std::string& share) {
    const std::scoped_lock lock(mutex_);
    if (count_ >= count_max_) return false;
    if (!share.empty()) {
      const auto own = shares_.find(share);
      if (own != shares_.end() && own->second >= count_max_ - count_) return false;
      ++shares_[share];
    }
    ++count_;
    return true;
  }
  void leave(const std::string& share) {
    const std::scoped_lock lock(mutex_);
    --count_;
    const auto own = shares_.find(share);
    if (own != shares_.end() && --own->second == 0) shares_.erase(own);
  }

 private:
  const unsigned count_max_;
  std::mutex mutex_;
  unsigned count_ = 0;
  std::map<std::string, unsigned> shares_;  ///< none is 0
};

class Exchange {
 public:
  /// All arguments are borrowed.
  Exchange(const HttpServerOptions& options, HttpHandler& handler, LargeBodies& large_bodies, std::string_view target)
      : options_(options),
        handler_(handler),
        large_bodies_(large_bodies),
        target_(target),
        body_bytes_max_(options.body_bytes_max) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() {
    if (is_large_) large_bodies_.leave(share_);
  }

  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Processes the headers. `is_surplus`: the connection is beyond the limit.
  [[nodiscard]] Progress begin(MHD_Connection& connection, const RequestLine& line, bool is_surplus);
  [[nodiscard]] Progress take_body(std::string_view part);

  [[nodiscard]] const HttpRequest& request() const { return request_; }
  [[nodiscard]] HttpRequest& request() { return request_; }
  [[nodiscard]] bool is_head() const { return is_head_; }
  /// Whether a body of unknown length is sent to the client in chunks.
  [[nodiscard]] bool takes_chunks() const { return takes_chunks_; }
  [[nodiscard]] const std::optional<HttpRefusal>& refusal() const { return refusal_; }
  /// Whether its refusal was sent before its body had arrived.
  [[nodiscard]] bool was_refused_early() const { return was_refused_early_; }

  /// Null until the handler has deferred its answer.
  [[nodiscard]] LateAnswer* late_answer() const { return late_answer_.get(); }
  void set_late_answer(std::shared_ptr<LateAnswer> answer) { late_answer_ = std::move(answer); }

 private:
  /// Only the first fault is kept.
  void refuse(HttpFault fault, int status, std::string message);
  void check_target();
  void check_headers(MHD_Connection& connection, std::string_view version);
  /// Whether the head has bytes that the library has not taken: where it ends is uncertain then.
  [[nodiscard]] bool has_other_bytes(MHD_Connection& connection, const RequestLine& line) const;
  [[nodiscard]] Progress check_length();
  void refuse_body();
  /// Records the size, announced or received, of the body: a large one needs a place.
  void note_size(std::uint64_t bytes);
  /// How many bytes of a refused body are read and discarded: its sender gets to read the answer.
  [[nodiscard]] std::size_t discard_bytes_max() const;

  const HttpServerOptions& options_;
  HttpHandler& handler_;
  LargeBodies& large_bodies_;
  std::string target_;
  HttpRequest request_;
  std::optional<HttpRefusal> refusal_;
  std::shared_ptr<LateAnswer> late_answer_;
  bool has_begun_ = false;
  bool is_head_ = false;
  bool takes_chunks_ = false;
  bool was_refused_early_ = false;
  std::size_t body_bytes_max_;
  std::size_t body_bytes_ = 0;  ///< received, kept or not
  bool is_large_ = false;       ///< counted in large_bodies_
  std::string share_;           ///< that it is counted for
};

}  // namespace berth::edges::detail
