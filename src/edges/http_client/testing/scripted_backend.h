/// A server for tests whose connections are served by a function of the test, each on a thread of its own.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace berth::edges::testing {

/// One connection of a client, closed on destruction.
class BackendConnection {
 public:
  BackendConnection(int socket, const std::atomic<bool>& is_stopping) : socket_(socket), is_stopping_(is_stopping) {}
  BackendConnection(const BackendConnection&) = delete;
  BackendConnection& operator=(const BackendConnection&) = delete;
  ~BackendConnection() { close(); }

  /// The next request, with a body of Content-Length; nothing if the client closes the connection or the backend ends.
  [[nodiscard]] std::optional<std::string> receive_request() {
    while (true) {
      const std::size_t bytes = complete_bytes();
      if (bytes > 0) {
        std::string request = received_.substr(0, bytes);
        received_.erase(0, bytes);
        return request;
      }
      pollfd polled{.fd = socket_, .events = POLLIN, .revents = 0};
      const bool is_ready = ::poll(&polled, 1, 10) > 0;
      if (is_ready ? !receive() : is_stopping_.load()) return std::nullopt;
    }
  }

  /// The address of the client: "127.0.0.1:40000".
  [[nodiscard]] std::string peer() const {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    ::getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }

  /// False if the client has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  /// One chunk of a chunked body; the empty one ends it.
  bool send_chunk(std::string_view bytes) {
    char length[24];
    std::snprintf(length, sizeof(length), "%zx\r\n", bytes.size());
    return send(length + std::string(bytes) + "\r\n");
  }

  /// How long it takes until the client closes the connection, discarding what it sends; nothing after `within`.
  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_until_closed(
      std::chrono::milliseconds within = std::chrono::seconds(10)) {
    const auto began = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - began < within) {
      pollfd polled{.fd = socket_, .events = POLLIN, .revents = 0};
      if (::poll(&polled, 1, 10) > 0 && !receive()) {
        return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
      }
    }
    return std::nullopt;
  }

  void close() {
    const int socket = std::exchange(socket_, -1);
    if (socket >= 0) ::close(socket);
  }
  /// Closes it so that the client gets an error instead of an end.
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close();
  }

 private:
  bool receive() {
    char piece[65'536];
    const ssize_t count = ::recv(socket_, piece, sizeof(piece), 0);
    if (count > 0) received_.append(piece, static_cast<std::size_t>(count));
    return count > 0;
  }
  /// Of the first request; 0 if it is not complete.
  [[nodiscard]] std::size_t complete_bytes() const {
    const std::size_t end = received_.find("\r\n\r\n");
    if (end == std::string::npos) return 0;
    const std::string name = "Content-Length: ";
    const std::size_t at = received_.find(name);
    const std::size_t length = at > end ? 0 : std::strtoul(received_.c_str() + at + name.size(), nullptr, 10);
    return received_.size() >= end + 4 + length ? end + 4 + length : 0;
  }

  int socket_;
  const std::atomic<bool>& is_stopping_;
  std::string received_;
};

class ScriptedBackend {
 public:
  using Serve = std::function<void(BackendConnection&)>;

  explicit ScriptedBackend(Serve serve) : serve_(std::move(serve)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) != 0) std::abort();
    if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) std::abort();
    port_ = ntohs(address.sin_port);
    if (::listen(socket_, 256) != 0) std::abort();
    accepting_ = std::thread([this] { accept_all(); });
  }
  ScriptedBackend(const ScriptedBackend&) = delete;
  ScriptedBackend& operator=(const ScriptedBackend&) = delete;
  /// Waits for all connections to be served: what they wait for, but for requests, must end.
  ~ScriptedBackend() {
    is_stopping_ = true;
    ::shutdown(socket_, SHUT_RDWR);
    accepting_.join();
    for (std::thread& each : serving_) each.join();
    ::close(socket_);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url(const std::string& path = "") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  [[nodiscard]] int connection_count() const { return connection_count_; }

 private:
  void accept_all() {
    while (true) {
      const int accepted = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (accepted < 0) return;
      ++connection_count_;
      serving_.emplace_back([this, accepted] {
        BackendConnection connection(accepted, is_stopping_);
        serve_(connection);
      });
    }
  }

  const Serve serve_;
  const int socket_;
  std::uint16_t port_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<int> connection_count_ = 0;
  std::list<std::thread> serving_;  // of the accepting thread until it has ended
  std::thread accepting_;
};

}  // namespace berth::edges::testing
