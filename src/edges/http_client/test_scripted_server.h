/// A server for tests that answers one connection after the other with given bytes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace berth::edges {

/// A socket that is bound to a free port of the loopback address.
class BoundSocket {
 public:
  BoundSocket() : number_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(number_, reinterpret_cast<const sockaddr*>(&address), size) != 0) std::abort();
    if (::getsockname(number_, reinterpret_cast<sockaddr*>(&address), &size) != 0) std::abort();
    port_ = ntohs(address.sin_port);
  }
  BoundSocket(const BoundSocket&) = delete;
  BoundSocket& operator=(const BoundSocket&) = delete;
  ~BoundSocket() { ::close(number_); }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  int number_;
  std::uint16_t port_ = 0;
};

enum class AfterAnswer { kClose, kStayOpen };

class ScriptedServer {
 public:
  explicit ScriptedServer(std::string answer, AfterAnswer then = AfterAnswer::kClose)
      : ScriptedServer(std::vector<std::string>{std::move(answer)}, then) {}
  /// Serves one connection per answer; for an empty answer it sends nothing.
  explicit ScriptedServer(std::vector<std::string> answers, AfterAnswer then = AfterAnswer::kClose)
      : answers_(std::move(answers)), then_(then) {
    if (::listen(socket_.number(), 8) != 0) std::abort();
    thread_ = std::thread([this] { serve(); });
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer() { stop(); }

  [[nodiscard]] std::string url(const std::string& path = "/") const { return socket_.url(path); }

  /// The client's last request. Ends the connection first.
  [[nodiscard]] const std::string& request() { return requests().back(); }
  /// The client's request over each connection.
  [[nodiscard]] const std::vector<std::string>& requests() {
    stop();
    return requests_;
  }

 private:
  void stop() {
    ::shutdown(socket_.number(), SHUT_RDWR);
    const int open = connection_;
    if (open >= 0) ::shutdown(open, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }

  void serve() {
    for (const std::string& answer : answers_) {
      const int connection = ::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      answer_to(connection, answer);
    }
  }

  void answer_to(int connection, const std::string& answer) {
    connection_ = connection;
    requests_.emplace_back();
    while (!is_complete() && receive(connection)) {
    }
    std::size_t sent = 0;
    while (sent < answer.size()) {
      const ssize_t count = ::send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
    }
    while (then_ == AfterAnswer::kStayOpen && receive(connection)) {
    }
    connection_ = -1;
    ::close(connection);
  }

  bool receive(int connection) {
    char piece[4096];
    const ssize_t count = ::recv(connection, piece, sizeof(piece), 0);
    if (count > 0) requests_.back().append(piece, static_cast<std::size_t>(count));
    return count > 0;
  }

  [[nodiscard]] bool is_complete() const {
    const std::string& request = requests_.back();
    const std::size_t end = request.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const std::string name = "Content-Length: ";
    const std::size_t at = request.find(name);
    const std::size_t length =
        at == std::string::npos ? 0 : std::strtoul(request.c_str() + at + name.size(), nullptr, 10);
    return request.size() >= end + 4 + length;
  }

  BoundSocket socket_;
  std::vector<std::string> answers_;
  AfterAnswer then_;
  std::vector<std::string> requests_ = {};
  std::atomic<int> connection_ = -1;
  std::thread thread_;
};

}  // namespace berth::edges
