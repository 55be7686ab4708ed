/// A TCP connection for tests that sends any bytes and reads answers, each step with a deadline.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::edges {

/// An answer received. `status` is 0 if the connection ended without a complete answer.
struct RawAnswer {
  int status = 0;
  std::string head;  ///< the status line and the headers
  std::string body;
};

class RawClient {
 public:
  static constexpr int kDeadlineMs = 10'000;

  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  RawClient(RawClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), is_open_(other.is_open_), received_(std::move(other.received_)) {}
  RawClient& operator=(RawClient&&) = delete;
  ~RawClient() {
    if (socket_ >= 0) ::close(socket_);
  }

  [[nodiscard]] bool is_open() const { return is_open_; }

  /// Ends sending; the client can still read.
  void end_sending() const { ::shutdown(socket_, SHUT_WR); }

  /// False if the server has closed the connection.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  /// Reads until `text` has arrived, and returns everything up to its end; nothing if the connection ended or the
  /// deadline passed before.
  std::optional<std::string> read_until(std::string_view text) {
    std::size_t at = received_.find(text);
    while (at == std::string::npos) {
      const std::size_t from = received_.size() < text.size() ? 0 : received_.size() - text.size();
      if (!receive()) return std::nullopt;
      at = received_.find(text, from);
    }
    return take(at + text.size());
  }

  /// One answer with a Content-Length. `has_body` is false for HEAD.
  RawAnswer read_answer(bool has_body = true) {
    RawAnswer answer;
    auto head = read_until("\r\n\r\n");
    if (!head) return answer;
    answer.head = *std::move(head);
    const std::size_t length = content_length(answer.head);
    while (has_body && received_.size() < length) {
      if (!receive()) return answer;
    }
    if (has_body) answer.body = take(length);
    answer.status = std::atoi(answer.head.substr(answer.head.find(' ') + 1, 3).c_str());
    return answer;
  }

  RawAnswer ask(std::string_view request) {
    if (!send(request)) return {};
    return read_answer();
  }

  /// Whether the server closes the connection, without sending anything more, before the deadline.
  bool is_closed_by_server() {
    const bool is_empty = received_.empty();
    while (receive()) {
    }
    return is_empty && received_.empty() && has_ended_;
  }

  /// The same, ignoring data that is still sent before.
  bool is_ended_by_server() {
    while (receive()) {
    }
    return has_ended_;
  }

  /// Whether nothing arrives within a short time.
  bool is_silent(int for_ms) {
    pollfd wait{socket_, POLLIN, 0};
    return received_.empty() && ::poll(&wait, 1, for_ms) == 0;
  }

 private:
  bool receive() {
    pollfd wait{socket_, POLLIN, 0};
    if (::poll(&wait, 1, kDeadlineMs) <= 0) return false;
    char piece[65'536];
    const ssize_t count = ::recv(socket_, piece, sizeof(piece), 0);
    has_ended_ = count <= 0;
    if (count > 0) received_.append(piece, static_cast<std::size_t>(count));
    return count > 0;
  }

  std::string take(std::size_t count) {
    std::string taken = received_.substr(0, count);
    received_.erase(0, count);
    return taken;
  }

  static std::size_t content_length(const std::string& head) {
    const std::string name = "Content-Length: ";
    const std::size_t at = head.find(name);
    return at == std::string::npos ? 0 : std::strtoul(head.c_str() + at + name.size(), nullptr, 10);
  }

  int socket_;
  bool is_open_ = false;
  bool has_ended_ = false;
  std::string received_;
};

/// `count` connections, each made by `open`.
template <class Open>
std::vector<RawClient> several(std::size_t count, const Open& open) {
  std::vector<RawClient> clients;
  clients.reserve(count);
  while (clients.size() < count) clients.push_back(open());
  return clients;
}

}  // namespace berth::edges
