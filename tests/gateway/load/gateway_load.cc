// For measuring a gateway:
//
//   berth_gateway_load answer                          a replica that answers each request at once; prints its port
//   berth_gateway_load send PORT PATH RATE SECONDS     requests of 3 KB in an open loop; prints figures as JSON
//
// The first tenth of the requests is sent and not counted. Times count from when a request should have been sent.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
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

int answer_at_once() {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(listening, reinterpret_cast<const sockaddr*>(&address), size) != 0 || ::listen(listening, 256) != 0 ||
      ::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 1;
  }
  fmt::print("{}\n", ntohs(address.sin_port));
  std::fflush(stdout);
  while (true) {
    const int socket = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return 1;
    std::thread(answer_all, socket).detach();
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
  if (verb == "send" && argc == 6) {
    return send_requests(static_cast<std::uint16_t>(std::atoi(argv[2])), argv[3], std::atoll(argv[4]),
                         std::atoll(argv[5]));
  }
  fmt::print(stderr, "berth_gateway_load: wanted answer, or send PORT PATH RATE SECONDS\n");
  return 2;
}
