/// A client's connection over HTTP/1.1 that stays open: one request at a time, never blocking.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace berth::load {

/// Of an answer what the load generator looks at. `body` is valid until the next request is sent.
struct Answer {
  int status = 0;
  std::string_view body;
};

class HttpConnection {
 public:
  /// Connects, which may block; nothing if it fails.
  [[nodiscard]] static std::optional<HttpConnection> open(const sockaddr_in& address);

  HttpConnection(HttpConnection&& other) noexcept;
  HttpConnection& operator=(HttpConnection&&) = delete;
  ~HttpConnection();

  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Sends what is possible now. Requires: the last request was answered, or there was none.
  void send(std::string request);

  /// Sends and reads what is possible now, and returns the answer if it is complete. Call it whenever the socket can be
  /// read or written again (edge-triggered).
  [[nodiscard]] std::optional<Answer> proceed();

  /// Whether the connection ended, or sent what is no answer. No answer comes any more.
  [[nodiscard]] bool is_broken() const { return is_broken_; }

 private:
  explicit HttpConnection(int descriptor) : descriptor_(descriptor) {}
  void write_some();
  void read_some();
  void parse_head();

  int descriptor_;  // -1: moved from
  std::string request_;
  std::size_t sent_size_ = 0;
  std::string received_;
  std::size_t head_size_ = 0;  // 0: the head is not complete yet
  std::size_t body_size_ = 0;
  int status_ = 0;
  bool is_waiting_ = false;  // for an answer
  bool is_broken_ = false;
};

}  // namespace berth::load
