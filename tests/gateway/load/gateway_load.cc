// For measuring a gateway:
//
//   berth_gateway_load answer                          a replica that answers each request at once; prints its port
//   berth_gateway_load forward PORT [PORT]             a plain loop that passes bytes on; prints its port
//   berth_gateway_load send PORT PATH RATE SECONDS     requests of 3 KB in an open loop; prints figures as JSON
//
// The first tenth of the requests is sent and not counted. Times count from when a request should have been sent.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "open_loop_client.h"

namespace berth::gateway_load {
namespace {

constexpr std::size_t kBodyBytes = 3'000;
constexpr Micros kPatience = Micros::seconds(10);
constexpr std::string_view kLength = "Content-Length: ";

std::size_t request_bytes(std::string_view received) {
  const std::size_t end = received.find("\r\n\r\n");
  if (end == std::string_view::npos) return SIZE_MAX;
  const std::size_t at = received.substr(0, end).find(kLength);
  const std::size_t length =
      at == std::string_view::npos ? 0 : std::strtoul(received.data() + at + kLength.size(), nullptr, 10);
  return end + 4 + length;
}

/// One connection, until its client closes it.
void answer_all(int socket) {
  const std::string body(200, 'y');
  const std::string answer = fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  std::string received;
  std::vector<char> part(65'536);
  while (true) {
    const ssize_t count = ::recv(socket, part.data(), part.size(), 0);
    if (count <= 0) break;
    received.append(part.data(), static_cast<std::size_t>(count));
    for (std::size_t bytes = request_bytes(received); bytes <= received.size(); bytes = request_bytes(received)) {
      received.erase(0, bytes);
      if (::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) break;
    }
  }
  ::close(socket);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// At any free port, which it prints. Negative: a failure.
int listen_and_say() {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  if (::bind(listening, reinterpret_cast<const sockaddr*>(&address), size) != 0 || ::listen(listening, 256) != 0 ||
      ::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return -1;
  }
  fmt::print("{}\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return listening;
}

int answer_at_once() {
  const int listening = listen_and_say();
  while (true) {
    const int socket = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return 1;
    std::thread(answer_all, socket).detach();
  }
}

/// What a gateway on this machine cannot do without: two reads, two writes, and a wait for each. Each client has a
/// connection of its own to a replica; a message is passed on as it was read, and nothing of it is looked at.
int forward(const std::vector<std::uint16_t>& ports) {
  const int listening = listen_and_say();
  const int waited = ::epoll_create1(EPOLL_CLOEXEC);
  const auto watch = [waited](int socket) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = socket}};
    ::epoll_ctl(waited, EPOLL_CTL_ADD, socket, &event);
  };
  watch(listening);
  std::unordered_map<int, int> others;
  std::vector<char> part(65'536);
  std::size_t accepted_count = 0;
  while (true) {
    epoll_event event{};
    if (::epoll_wait(waited, &event, 1, -1) < 0) return 1;
    if (event.data.fd == listening) {
      const int client = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
      const int replica = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in address = loopback(ports[accepted_count++ % ports.size()]);
      if (::connect(replica, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return 1;
      const int on = 1;
      for (const int each : {client, replica}) {
        ::setsockopt(each, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        watch(each);
      }
      others[client] = replica;
      others[replica] = client;
      continue;
    }
    const int from = event.data.fd;
    const ssize_t count = ::recv(from, part.data(), part.size(), 0);
    if (count > 0 && ::send(others[from], part.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) == count)
      continue;
    for (const int each : {others[from], from}) {
      ::close(each);
      others.erase(each);
    }
  }
}

/// Nearest rank. Requires: not empty and sorted.
std::int64_t percentile_us(const std::vector<Micros>& sorted, std::size_t per_mille) {
  return sorted[(sorted.size() * per_mille + 999) / 1000 - 1].count();
}

int send_requests(std::uint16_t port, const std::string& path, std::int64_t rate, std::int64_t seconds) {
  const std::string bytes = fmt::format(
      "POST {} HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\n"
      "Content-Length: {}\r\n\r\n{}",
      path, kBodyBytes, std::string(kBodyBytes, 'x'));
  std::vector<serving_bars::TimedRequest> requests;
  for (std::int64_t i = 0; i < rate * seconds; ++i) {
    requests.push_back({.at = Micros(i * kMicrosPerSecond / rate), .target = Micros::seconds(1), .bytes = bytes});
  }
  const serving_bars::OpenLoopOutcome outcome = serving_bars::send_open_loop(port, requests, kPatience);
  std::vector<Micros> latencies;
  for (std::size_t i = requests.size() / 10; i < outcome.answers.size(); ++i) {
    if (outcome.answers[i].status == 200) latencies.push_back(outcome.answers[i].latency);
  }
  if (latencies.empty()) return 1;
  std::ranges::sort(latencies);
  const auto good = std::ranges::count_if(outcome.answers, [](const auto& each) { return each.status == 200; });
  fmt::print("{{\"sent\":{},\"good\":{},\"p50_us\":{},\"p99_us\":{},\"lateness_max_us\":{}}}\n", requests.size(), good,
             percentile_us(latencies, 500), percentile_us(latencies, 990), outcome.lateness_max.count());
  return 0;
}

}  // namespace
}  // namespace berth::gateway_load

int main(int argc, char** argv) {
  using namespace berth::gateway_load;
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "answer" && argc == 2) return answer_at_once();
  if (verb == "forward" && argc > 2) {
    std::vector<std::uint16_t> ports;
    for (int i = 2; i < argc; ++i) ports.push_back(static_cast<std::uint16_t>(std::atoi(argv[i])));
    return forward(ports);
  }
  if (verb == "send" && argc == 6) {
    return send_requests(static_cast<std::uint16_t>(std::atoi(argv[2])), argv[3], std::atoll(argv[4]),
                         std::atoll(argv[5]));
  }
  fmt::print(stderr, "berth_gateway_load: wanted answer, forward PORT .., or send PORT PATH RATE SECONDS\n");
  return 2;
}
