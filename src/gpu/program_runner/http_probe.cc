#include "gpu/program_runner/http_probe.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "base/listeners/listener_users.h"
#include "domain/ports/http_message.h"
#include "serving/replica_proof/replica_proof.h"

namespace berth::edges {
namespace {

constexpr std::size_t kAnswerBytesMax = 4096;
constexpr std::size_t kShownBytesMax = 300;
constexpr const char* kNotListening = "does not listen at its port";

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Of "HTTP/1.1 200 OK"; 0: it is no such line.
int status_in(std::string_view answer) {
  constexpr std::string_view kFront = "HTTP/1.";
  constexpr std::size_t kStatusAt = kFront.size() + 2;
  if (!answer.starts_with(kFront) || answer.size() < kStatusAt + 3) return 0;
  const auto status = parse_count(answer.substr(kStatusAt, 3), 999);
  return status ? static_cast<int>(*status) : 0;
}

std::string_view body_in(std::string_view answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string_view::npos ? std::string_view() : answer.substr(end + 4, kShownBytesMax);
}

std::vector<HttpField> fields_in(std::string_view answer) {
  std::vector<HttpField> fields;
  std::string_view head = answer.substr(0, answer.find("\r\n\r\n"));
  while (!head.empty()) {
    std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(line.size() + 2, head.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    fields.push_back({std::string(line.substr(0, colon)), std::string(value)});
  }
  return fields;
}

}  // namespace

std::optional<ProbeAnswer> HttpProbe::step(const ProbeQuestion& question) {
  if (!socket_.is_open()) {
    if (auto failed = begin(question)) return failed;
  }
  if (!request_.empty()) {
    if (auto failed = send()) return failed;
    if (!request_.empty()) return std::nullopt;
  }
  return receive(question);
}

std::optional<ProbeAnswer> HttpProbe::begin(const ProbeQuestion& question) {
  received_.clear();
  socket_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  request_ = fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n",
                         question.is_post ? "POST" : "GET", question.path, question.port);
  if (question.is_post) request_ += "Content-Length: 0\r\n";
  nonce_.clear();
  if (!question.key.empty()) {
    std::array<std::uint64_t, 2> bits{};
    if (::getrandom(bits.data(), sizeof(bits), 0) != static_cast<ssize_t>(sizeof(bits))) {
      return end(0, "was not asked: the kernel gives no random bytes");
    }
    nonce_ = fmt::format("{:016x}{:016x}", bits[0], bits[1]);
    request_ += fmt::format("{}: {}\r\n{}: {}\r\n", serving::kKeyHeader, serving::request_token(question.key),
                            serving::kNonceHeader, nonce_);
  }
  request_ += "\r\n";
  const sockaddr_in address = loopback(question.port);
  const int connected = ::connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  if (connected == 0 || errno == EINPROGRESS) return std::nullopt;
  return end(0, kNotListening);
}

std::optional<ProbeAnswer> HttpProbe::send() {
  const ssize_t count = ::send(socket_.number(), request_.data(), request_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0) {
    request_.erase(0, static_cast<std::size_t>(count));
    return std::nullopt;
  }
  if (errno == EAGAIN || errno == ENOTCONN || errno == EINTR) return std::nullopt;
  if (errno == ECONNREFUSED) return end(0, kNotListening);
  return end(0, fmt::format("does not take a request: {}", std::strerror(errno)));
}

/// Whether the answer proves that the program gave it.
bool HttpProbe::is_from_the_program(const ProbeQuestion& question) const {
  if (question.key.empty()) return true;
  sockaddr_in own{};
  socklen_t size = sizeof(own);
  if (::getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&own), &size) != 0) return false;
  const std::string client = fmt::format("127.0.0.1:{}", ntohs(own.sin_port));
  const std::string generation = fmt::format("{}", question.generation);
  return serving::has_proof(fields_in(received_), question.key,
                            {.nonce = nonce_, .slice = question.slice, .generation = generation, .client = client});
}

std::optional<ProbeAnswer> HttpProbe::receive(const ProbeQuestion& question) {
  std::array<char, kAnswerBytesMax> buffer{};
  const ssize_t count = ::recv(socket_.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (count > 0) received_.append(buffer.data(), static_cast<std::size_t>(count));
  const bool is_head_whole = received_.find("\r\n\r\n") != std::string::npos;
  if (count > 0 && received_.size() < kAnswerBytesMax && !is_head_whole) return std::nullopt;
  const int status = status_in(received_);
  if (status == 0) return end(0, "answers no HTTP");
  if (!is_from_the_program(question)) return end(0, "another process answers at its port");
  return end(status, fmt::format("answers {} {}", status, in_quotes(body_in(received_))));
}

ProbeAnswer HttpProbe::end(int status, std::string message) {
  socket_.close();
  request_.clear();
  return {.status = status, .message = std::move(message)};
}

int free_loopback_port() {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.number(), place, size) != 0 || ::getsockname(socket.number(), place, &size) != 0) return 0;
  return ntohs(address.sin_port);
}

bool is_taken_by_another(int port, std::int64_t uid) {
  const auto users = listener_users(port);
  return users && std::ranges::any_of(*users, [uid](std::int64_t each) { return each != uid; });
}

}  // namespace berth::edges
