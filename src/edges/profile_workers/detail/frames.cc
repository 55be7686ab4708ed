#include "edges/profile_workers/detail/frames.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace berth::edges::detail {
namespace {

constexpr int kPauseMs = 20;
/// More than the inputs of a batch can be.
constexpr std::uint64_t kFrameBytesMax = std::uint64_t{1} << 36U;

bool write_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

Result<void> read_all(int socket, char* to, std::size_t bytes, const std::function<bool()>& is_stopped) {
  while (bytes > 0) {
    if (is_stopped()) return fail(ErrorCode::kInterrupted, "the measurement was stopped");
    pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kPauseMs) <= 0) continue;
    const ssize_t count = ::recv(socket, to, bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(ErrorCode::kUnavailable, "the other process has ended");
    to += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return {};
}

}  // namespace

bool write_frame(int socket, std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  std::string head(sizeof size, '\0');
  std::memcpy(head.data(), &size, sizeof size);
  return write_all(socket, head) && write_all(socket, bytes);
}

Result<std::string> read_frame(int socket, const std::function<bool()>& is_stopped) {
  std::uint64_t size = 0;
  if (auto read = read_all(socket, reinterpret_cast<char*>(&size), sizeof size, is_stopped); !read) {
    return pass_on(read.error());
  }
  if (size > kFrameBytesMax) return fail(ErrorCode::kUnavailable, "a message of another program");
  std::string bytes(size, '\0');
  if (auto read = read_all(socket, bytes.data(), bytes.size(), is_stopped); !read) return pass_on(read.error());
  return bytes;
}

bool has_frame(int socket) {
  pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, 0) > 0;
}

}  // namespace berth::edges::detail
