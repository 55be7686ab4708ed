#include "open_loop_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace berth::serving_bars {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void give_up(const std::string& message) {
  fmt::print(stderr, "open loop: {}\n", message);
  std::exit(1);
}

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {
    if (number < 0) give_up(std::strerror(errno));
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(number_); }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// A connection, and what has arrived of the answer to its request.
struct Connection {
  explicit Connection(std::uint16_t port) : socket(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      give_up(fmt::format("cannot connect: {}", std::strerror(errno)));
    }
    const int on = 1;
    ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }

  Descriptor socket;
  std::optional<std::size_t> request;  ///< nothing: it is idle
  std::string arrived;
};

/// The status of an answer that is complete; 0 until then.
int status_of(std::string_view answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const std::size_t length = answer.find(kLength);
  if (!answer.starts_with(kVersion) || length > end) give_up(fmt::format("found {}", answer.substr(0, end)));
  std::size_t bytes = 0;
  std::from_chars(answer.data() + length + kLength.size(), answer.data() + end, bytes);
  if (answer.size() < end + 4 + bytes) return 0;
  int status = 0;
  std::from_chars(answer.data() + kVersion.size(), answer.data() + end, status);
  return status;
}

class OpenLoop {
 public:
  OpenLoop(std::uint16_t port, const std::vector<TimedRequest>& requests, Micros patience)
      : port_(port), requests_(requests), patience_(patience) {
    outcome_.answers.resize(requests.size());
    watch(timer_.number(), nullptr);
  }

  OpenLoopOutcome run() {
    begin_ = Clock::now();
    send_due();
    while (ended_ < requests_.size()) {
      std::array<epoll_event, 64> events{};
      constexpr int kPauseMs = 1000;
      const int count = ::epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()), kPauseMs);
      for (int i = 0; i < count; ++i) {
        if (auto* connection = static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr)) {
          receive(*connection);
        }
      }
      send_due();
      if (next_ == requests_.size() && since_begin() > requests_.back().at + patience_) break;
    }
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] Micros since_begin() const {
    return Micros(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin_).count());
  }

  void watch(int number, Connection* connection) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connection;
    if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, number, &event) != 0) give_up(std::strerror(errno));
  }

  void send_due() {
    while (next_ < requests_.size()) {
      const Micros wait = requests_[next_].at - since_begin();
      if (wait > Micros(0)) return set_timer(wait);
      outcome_.lateness_max = std::max(outcome_.lateness_max, Micros(-wait.count()));
      send_next();
    }
    set_timer(Micros(0));  // no more
  }

  /// Zero: never.
  void set_timer(Micros wait) {
    itimerspec time{};
    time.it_value.tv_sec = wait.count() / kMicrosPerSecond;
    time.it_value.tv_nsec = wait.count() % kMicrosPerSecond * 1000;
    if (::timerfd_settime(timer_.number(), 0, &time, nullptr) != 0) give_up(std::strerror(errno));
  }

  void send_next() {
    if (idle_.empty()) {
      connections_.push_back(std::make_unique<Connection>(port_));
      watch(connections_.back()->socket.number(), connections_.back().get());
      idle_.push_back(connections_.back().get());
    }
    Connection& connection = *idle_.back();  // the one that was used last is the warmest
    idle_.pop_back();
    const std::string& bytes = requests_[next_].bytes;
    connection.request = next_++;
    const auto sent = ::send(connection.socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (std::cmp_not_equal(sent, bytes.size())) close(connection);
  }

  /// A server that has too many connections closes some.
  void close(Connection& connection) {
    if (connection.request) ++ended_;  // without an answer
    std::erase(idle_, &connection);
    std::erase_if(connections_, [&](const auto& other) { return other.get() == &connection; });
  }

  void receive(Connection& connection) {
    std::array<char, 8192> part{};
    const auto count = ::recv(connection.socket.number(), part.data(), part.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return close(connection);
    connection.arrived.append(part.data(), static_cast<std::size_t>(count));
    const int status = status_of(connection.arrived);
    if (status == 0) return;
    connection.arrived.clear();
    const std::size_t request = *std::exchange(connection.request, std::nullopt);
    outcome_.answers[request] = {.status = status, .latency = since_begin() - requests_[request].at};
    ++ended_;
    idle_.push_back(&connection);
  }

  const std::uint16_t port_;
  const std::vector<TimedRequest>& requests_;
  const Micros patience_;
  Descriptor epoll_{::epoll_create1(0)};
  Descriptor timer_{::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)};
  Clock::time_point begin_;
  std::size_t next_ = 0;
  std::size_t ended_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> idle_;
  OpenLoopOutcome outcome_;
};

}  // namespace

OpenLoopOutcome send_open_loop(std::uint16_t port, const std::vector<TimedRequest>& requests, Micros patience) {
  if (requests.empty()) return {};
  return OpenLoop(port, requests, patience).run();
}

}  // namespace berth::serving_bars
