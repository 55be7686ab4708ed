#include "http_connection.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace berth::load {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kStatusBegin = "HTTP/1.1 ";
constexpr std::string_view kLengthName = "\r\nContent-Length:";
constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;

/// The number at the beginning of the text, after spaces.
std::optional<std::size_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{}) return std::nullopt;
  return number;
}

bool may_try_again() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

std::optional<HttpConnection> HttpConnection::open(const sockaddr_in& address) {
  HttpConnection connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int descriptor = connection.descriptor_;
  if (descriptor < 0) return std::nullopt;
  // The interface of sockets: every kind of address is passed as a sockaddr.
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return std::nullopt;
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  return connection;
}

HttpConnection::HttpConnection(HttpConnection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      request_(std::move(other.request_)),
      sent_size_(other.sent_size_),
      received_(std::move(other.received_)),
      head_size_(other.head_size_),
      body_size_(other.body_size_),
      status_(other.status_),
      is_waiting_(other.is_waiting_),
      is_broken_(other.is_broken_) {}

HttpConnection::~HttpConnection() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void HttpConnection::send(std::string request) {
  request_ = std::move(request);
  sent_size_ = head_size_ = body_size_ = 0;
  received_.clear();
  is_waiting_ = true;
  write_some();
}

std::optional<Answer> HttpConnection::proceed() {
  if (!is_broken_) write_some();
  if (!is_broken_) read_some();
  if (is_broken_ || !is_waiting_ || head_size_ == 0 || received_.size() < head_size_ + body_size_) return std::nullopt;
  is_waiting_ = false;
  return Answer{.status = status_, .body = std::string_view(received_).substr(head_size_, body_size_)};
}

void HttpConnection::write_some() {
  while (sent_size_ < request_.size()) {
    const ssize_t size = ::send(descriptor_, request_.data() + sent_size_, request_.size() - sent_size_, MSG_NOSIGNAL);
    if (size < 0) {
      is_broken_ = !may_try_again();
      return;
    }
    sent_size_ += static_cast<std::size_t>(size);
  }
}

void HttpConnection::read_some() {
  std::array<char, kPieceBytes> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv
  while (true) {
    const ssize_t size = ::recv(descriptor_, piece.data(), piece.size(), 0);
    if (size <= 0) {
      is_broken_ = size == 0 || !may_try_again();
      return;
    }
    received_.append(piece.data(), static_cast<std::size_t>(size));
    if (head_size_ == 0) parse_head();
    if (is_broken_ || static_cast<std::size_t>(size) < piece.size()) return;
  }
}

void HttpConnection::parse_head() {
  const std::size_t end = received_.find(kHeadEnd);
  if (end == std::string::npos) return;
  const std::string_view head = std::string_view(received_).substr(0, end);
  const std::size_t length_at = head.find(kLengthName);
  if (!is_waiting_ || !head.starts_with(kStatusBegin) || length_at == std::string_view::npos) {
    is_broken_ = true;
    return;
  }
  const auto status = leading_number(head.substr(kStatusBegin.size()));
  const auto length = leading_number(head.substr(length_at + kLengthName.size()));
  is_broken_ = !status || !length;
  if (is_broken_) return;
  status_ = static_cast<int>(*status);
  body_size_ = *length;
  head_size_ = end + kHeadEnd.size();
}

}  // namespace berth::load
