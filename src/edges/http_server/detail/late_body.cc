#include "edges/http_server/detail/late_body.h"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <iterator>
#include <utility>

namespace berth::edges::detail {
namespace {

constexpr std::size_t kChunkFrameBytesMax = 24;

}  // namespace

bool has_gone(int socket) {
  pollfd polled{.fd = socket, .events = POLLRDHUP, .revents = 0};
  return ::poll(&polled, 1, 0) > 0;  // POLLHUP and POLLERR are reported, too
}

int socket_of(MHD_Connection& connection) {
  const MHD_ConnectionInfo* info = MHD_get_connection_info(&connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == nullptr ? -1 : info->connect_fd;
}

HttpBodyFlow LateBody::write(std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  if (state_ != State::kOpen) return HttpBodyFlow::kGone;
  if (bytes.empty()) return is_full_ ? HttpBodyFlow::kFull : HttpBodyFlow::kGoesOn;
  if (connection_ != nullptr && are_chunks_allowed_ && send_chunk(bytes)) return HttpBodyFlow::kGoesOn;
  waiting_ += bytes;
  resume();
  is_full_ = waiting_.size() - sent_ >= kBodyBytesWaitingMax;
  return is_full_ ? HttpBodyFlow::kFull : HttpBodyFlow::kGoesOn;
}

bool LateBody::send_chunk(std::string_view bytes) {
  int on_the_way = 0;
  if (bytes.size() > kDirectBytesMax || ::ioctl(socket_, SIOCOUTQ, &on_the_way) != 0) return false;
  if (static_cast<std::size_t>(on_the_way) > kDirectBytesMax) return false;
  fmt::basic_memory_buffer<char, kDirectBytesMax + kChunkFrameBytesMax> chunk;
  fmt::format_to(std::back_inserter(chunk), "{:x}\r\n{}\r\n", bytes.size(), bytes);
  const auto count = static_cast<ssize_t>(chunk.size());
  const ssize_t sent = ::send(socket_, chunk.data(), chunk.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  // So little is taken as a whole or not at all, unless the system is out of memory: then the framing is lost.
  if (sent > 0 && sent < count) ::shutdown(socket_, SHUT_RDWR);
  return sent > 0;
}

void LateBody::allow_chunks() {
  const std::scoped_lock lock(mutex_);
  are_chunks_allowed_ = true;
}

void LateBody::finish(State how) {
  std::function<void()> unused;  // destroyed without the lock
  const std::scoped_lock lock(mutex_);
  if (state_ != State::kOpen) return;
  state_ = how;
  unused = std::exchange(on_gone_, nullptr);
  resume();
}

void LateBody::set_on_gone(std::function<void()> on_gone) {
  {
    const std::scoped_lock lock(mutex_);
    if (state_ == State::kOpen) on_gone_ = std::exchange(on_gone, nullptr);
    if (state_ != State::kGone) return;
  }
  if (on_gone) on_gone();
}

ssize_t LateBody::read(MHD_Connection& connection, char* to, std::size_t bytes_max) {
  std::function<void()> on_room;
  std::size_t count = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (sent_ == waiting_.size() || state_ == State::kGone) return rest(connection);
    count = waiting_.copy(to, bytes_max, sent_);
    sent_ += count;
    if (sent_ == waiting_.size()) {
      waiting_.clear();
      sent_ = 0;
    }
    if (is_full_ && waiting_.size() - sent_ < kBodyBytesWaitingMax / 2) {
      is_full_ = false;
      on_room = on_room_;
    }
  }
  if (on_room) on_room();
  return static_cast<ssize_t>(count);
}

ssize_t LateBody::rest(MHD_Connection& connection) {
  if (state_ == State::kEnded) return MHD_CONTENT_READER_END_OF_STREAM;
  if (state_ != State::kOpen) {
    // The last chunk can no longer be sent, at which libmicrohttpd closes the connection. After END_WITH_ERROR it would
    // keep it (0.9.75) until an older one has timed out.
    if (const int socket = socket_of(connection); socket >= 0) ::shutdown(socket, SHUT_RDWR);
    return MHD_CONTENT_READER_END_OF_STREAM;
  }
  connection_ = &connection;
  if (socket_ < 0) {
    socket_ = socket_of(connection);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  MHD_suspend_connection(&connection);
  return 0;
}

void LateBody::resume() {
  if (connection_ != nullptr) resumer_->resume(*std::exchange(connection_, nullptr));
}

void LateBody::close() {
  std::function<void()> on_gone;
  {
    const std::scoped_lock lock(mutex_);
    on_gone = leave();
  }
  if (on_gone) on_gone();
}

void LateBody::check_client() {
  std::function<void()> on_gone;
  {
    const std::scoped_lock lock(mutex_);
    if (connection_ == nullptr || !on_gone_ || !has_gone(socket_)) return;
    on_gone = leave();
  }
  on_gone();
}

std::function<void()> LateBody::leave() {
  state_ = State::kGone;
  resume();
  return std::exchange(on_gone_, nullptr);  // nothing, if all was written
}

}  // namespace berth::edges::detail
