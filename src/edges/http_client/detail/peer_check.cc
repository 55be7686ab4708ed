#include "edges/http_client/detail/peer_check.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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
#include "edges/http_client/detail/easy.h"

namespace berth::edges::detail {
namespace {

constexpr std::string_view kLoopbackUrl = "http://127.0.0.1:";
constexpr std::size_t kPeerAnswerBytesMax = 8'192;
constexpr std::string_view kPeerHeadBegin = "HTTP/1.1 ";
constexpr std::string_view kPeerHeadEnd = "\r\n\r\n";
constexpr const char* kUnproved = "the process at the port of the replica does not prove that it is the replica";

std::vector<HttpField> fields_of(std::string_view head) {
  std::vector<HttpField> fields;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    if (auto field = field_in(line)) fields.push_back(*std::move(field));
  }
  return fields;
}

sockaddr_in loopback_address(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

PeerConnection::~PeerConnection() {
  if (socket_ >= 0) ::close(socket_);
}

int PeerConnection::release() { return std::exchange(socket_, -1); }

Error PeerConnection::no_server(const std::string& why) const {
  return {ErrorCode::kNoServer, fmt::format("{}: {}", host_, why)};
}

Result<void> PeerConnection::begin(const std::string& url) {
  std::string_view rest = url;
  const bool is_loopback = rest.starts_with(kLoopbackUrl);
  rest.remove_prefix(is_loopback ? kLoopbackUrl.size() : rest.size());
  const auto port = parse_count(rest.substr(0, rest.find('/')), UINT16_MAX);
  if (!port) return invalid(fmt::format("wanted a URL of {}PORT, found another one", kLoopbackUrl));
  port_ = static_cast<int>(*port);
  host_ = fmt::format("127.0.0.1:{}", port_);
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) return pass_on(no_server(fmt::format("no socket: {}", std::strerror(errno))));
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const sockaddr_in address = loopback_address(port_);
  const int connected = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  if (connected == 0 || errno == EINPROGRESS) return {};
  return pass_on(no_server(fmt::format("no server answers: {}", std::strerror(errno))));
}

Result<PeerConnection::Progress> PeerConnection::step() {
  if (!is_connected_) return connected();
  return is_asked_ ? receive() : send();
}

Result<PeerConnection::Progress> PeerConnection::connected() {
  int trouble = 0;
  socklen_t size = sizeof(trouble);
  if (::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &trouble, &size) != 0) trouble = errno;
  if (trouble != 0) return pass_on(no_server(fmt::format("no server answers: {}", std::strerror(trouble))));
  sockaddr_in own{};
  size = sizeof(own);
  if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&own), &size) != 0) return Progress::kGoesOn;
  size = sizeof(own);
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    return pass_on(no_server("the connection has no address"));
  }
  is_connected_ = true;
  local_port_ = ntohs(own.sin_port);
  // Asked only now: who listens while the connection is made can be another one than who listened before.
  if (check_->user) {
    const auto users = listener_users(port_);
    if (!users) return pass_on(no_server(users.error().message));
    const bool is_only_theirs =
        !users->empty() && std::ranges::all_of(*users, [this](std::int64_t each) { return each == *check_->user; });
    if (!is_only_theirs) return pass_on(no_server("another user's process listens at the port of the replica"));
  }
  if (!check_->ask) return Progress::kChecked;
  question_ = check_->ask(fmt::format("127.0.0.1:{}", local_port_));
  request_ = fmt::format("HEAD {} HTTP/1.1\r\nHost: {}\r\n", question_.path, host_);
  for (const HttpField& field : question_.headers) request_ += fmt::format("{}: {}\r\n", field.name, field.value);
  request_ += "\r\n";
  return send();
}

Result<PeerConnection::Progress> PeerConnection::send() {
  const ssize_t count = ::send(socket_, request_.data(), request_.size(), MSG_NOSIGNAL);
  if (count < 0 && errno != EAGAIN && errno != EINTR) {
    return pass_on(no_server(fmt::format("the question who it is cannot be sent: {}", std::strerror(errno))));
  }
  if (count > 0) request_.erase(0, static_cast<std::size_t>(count));
  is_asked_ = request_.empty();
  return Progress::kGoesOn;
}

Result<PeerConnection::Progress> PeerConnection::receive() {
  std::array<char, kPeerAnswerBytesMax> buffer{};
  const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Progress::kGoesOn;
  if (count <= 0) return pass_on(no_server("the question who it is was not answered"));
  answer_.append(buffer.data(), static_cast<std::size_t>(count));
  // Who says something else may never end it: the request does not wait for that.
  if (answer_.compare(0, kPeerHeadBegin.size(), kPeerHeadBegin, 0, answer_.size()) != 0) {
    return pass_on(no_server(kUnproved));
  }
  if (answer_.find(kPeerHeadEnd) != std::string::npos) return judge();
  if (answer_.size() > kPeerAnswerBytesMax) return pass_on(no_server("the answer who it is has too many headers"));
  return Progress::kGoesOn;
}

Result<PeerConnection::Progress> PeerConnection::judge() {
  // More than a head would be taken for the answer to the first request.
  const bool is_only_head = answer_.find(kPeerHeadEnd) + kPeerHeadEnd.size() == answer_.size();
  const std::vector<HttpField> fields = fields_of(answer_);
  if (!is_only_head || !question_.is_right(fields)) return pass_on(no_server(kUnproved));
  const auto connection = find_header(fields, "Connection");
  if (connection && is_same_header(*connection, "close")) {
    return pass_on(no_server("the replica closes its connection"));
  }
  return Progress::kChecked;
}

}  // namespace berth::edges::detail
