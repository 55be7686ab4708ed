#include "gpu/hands/packet_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "gpu/hands/protocol.h"

namespace berth::edges {
namespace {

constexpr mode_t kOthersMask = 0177;
constexpr int kBacklog = 16;
constexpr std::size_t kPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;

tl::unexpected<Error> trouble(ErrorCode code, const std::string& path, std::string_view what) {
  return fail(code, fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

Descriptor new_socket() { return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

/// Nothing: the path is too long for a socket.
std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() > kPathBytesMax) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

bool connect_to(const Descriptor& socket, const sockaddr_un& address) {
  return ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

/// Removes a dead process's socket; refuses any other file.
Result<void> clear_place(const std::string& path, const sockaddr_un& address) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return {};  // binding reports any other error
  if (!S_ISSOCK(found.st_mode)) return invalid(path + ": wanted a place for a socket, found another file");
  const Descriptor probe = new_socket();
  if (connect_to(probe, address) || errno != ECONNREFUSED) {
    const auto peer = peer_of(probe);
    const std::string who = peer && peer->pid > 0 ? fmt::format("process {}", peer->pid) : "a process";
    return fail(ErrorCode::kUnavailable, fmt::format("{}: {} listens there", path, who));
  }
  if (::unlink(path.c_str()) != 0) return trouble(ErrorCode::kUnavailable, path, "the old socket cannot be removed");
  return {};
}

bool is_trusted(uid_t uid) { return uid == 0 || uid == ::geteuid(); }

tl::unexpected<Error> not_trusted(const std::string& path, std::string_view what, uid_t uid) {
  return invalid(
      fmt::format("{}: wanted {} of root or of user {}, found one of user {}", path, what, ::geteuid(), uid));
}

/// The file of a socket that may be trusted; it need not be readable.
Result<Descriptor> open_place(const std::string& path) {
  Descriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place.is_open()) {
    return trouble(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidInput, path, "no GPU agent there");
  }
  struct stat file = {};
  if (::fstat(place.number(), &file) != 0) return trouble(ErrorCode::kUnavailable, path, "cannot be read");
  if (!S_ISSOCK(file.st_mode)) return invalid(path + ": wanted a socket, found another file");
  if (!is_trusted(file.st_uid)) return not_trusted(path, "a socket", file.st_uid);
  return place;
}

}  // namespace

Result<SocketPair> make_socket_pair() {
  std::array<int, 2> numbers{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, numbers.data()) != 0) {
    return trouble(ErrorCode::kUnavailable, "GPU agent", "no socket");
  }
  return SocketPair{.ours = Descriptor(numbers[0]), .theirs = Descriptor(numbers[1])};
}

SendOutcome send_packet(const Descriptor& socket, std::string_view bytes) {
  while (true) {
    if (::send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
      return SendOutcome::kSent;
    }
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == ENOBUFS ? SendOutcome::kFull : SendOutcome::kGone;
  }
}

Received receive_packet(const Descriptor& socket) {
  std::string bytes(kPacketBytesMax, '\0');
  const auto receive = [&] { return ::recv(socket.number(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_TRUNC); };
  ssize_t count = receive();
  while (count < 0 && errno == EINTR) count = receive();
  // The other side closed it without reading everything: the kernel reports this once, before the data that it sent.
  if (count < 0 && errno == ECONNRESET) count = receive();
  if (count < 0) {
    return {.kind = errno == EAGAIN ? Received::Kind::kNothing : Received::Kind::kGone};
  }
  if (count == 0) return {.kind = Received::Kind::kGone};
  if (static_cast<std::size_t>(count) > bytes.size()) return {.kind = Received::Kind::kTooLong};
  bytes.resize(static_cast<std::size_t>(count));
  return {.kind = Received::Kind::kPacket, .bytes = std::move(bytes)};
}

std::optional<Peer> peer_of(const Descriptor& socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
  return Peer{.pid = credentials.pid, .uid = credentials.uid};
}

Result<HandsSocket> HandsSocket::listen(const std::string& path, std::optional<uid_t> owner) {
  const auto address = address_of(path);
  if (!address) {
    return invalid(fmt::format("{}: wanted a path of 1 to {} bytes, found {}", path, kPathBytesMax, path.size()));
  }
  if (auto cleared = clear_place(path, *address); !cleared) return pass_on(cleared.error());
  HandsSocket made(path, new_socket());
  const mode_t mask = ::umask(kOthersMask);
  const int bound = ::bind(made.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address));
  ::umask(mask);
  if (bound != 0) return trouble(ErrorCode::kInvalidInput, path, "no socket can be made there");
  struct stat file = {};
  if (::lstat(path.c_str(), &file) != 0) return trouble(ErrorCode::kUnavailable, path, "the socket is gone");
  made.device_ = file.st_dev;
  made.inode_ = file.st_ino;
  if (owner && ::lchown(path.c_str(), *owner, static_cast<gid_t>(-1)) != 0) {
    return trouble(ErrorCode::kUnavailable, path, "the socket cannot be given to its owner");
  }
  if (::listen(made.number(), kBacklog) != 0) return trouble(ErrorCode::kUnavailable, path, "cannot listen");
  return made;
}

HandsSocket::~HandsSocket() {
  struct stat found = {};
  if (!socket_.is_open() || ::lstat(path_.c_str(), &found) != 0) return;
  if (found.st_dev == device_ && found.st_ino == inode_) ::unlink(path_.c_str());
}

std::optional<Descriptor> HandsSocket::accept() const {
  Descriptor accepted(::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!accepted.is_open()) return std::nullopt;
  return accepted;
}

bool HandsSocket::may_connect(const Peer& peer) const {
  struct stat file = {};
  return peer.uid == 0 || (::lstat(path_.c_str(), &file) == 0 && file.st_uid == peer.uid);
}

Result<void> check_hands_socket(const std::string& path) {
  const auto place = open_place(path);
  return place ? Result<void>() : pass_on(place.error());
}

Result<Descriptor> connect_with_hands(const std::string& path) {
  // The file that is checked is the one connected to: it cannot be replaced in between.
  const auto place = open_place(path);
  if (!place) return pass_on(place.error());
  Descriptor socket = new_socket();
  if (!connect_to(socket, *address_of(fmt::format("/proc/self/fd/{}", place->number())))) {
    return trouble(ErrorCode::kUnavailable, path, "no GPU agent there");
  }
  const auto peer = peer_of(socket);
  if (!peer) return trouble(ErrorCode::kUnavailable, path, "the process behind it is not known");
  if (!is_trusted(peer->uid)) return not_trusted(path, "a process", peer->uid);
  return socket;
}

}  // namespace berth::edges
