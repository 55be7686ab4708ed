/// Sockets that preserve packet boundaries (SOCK_SEQPACKET), and the checks of who may connect.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "gpu/hands/descriptor.h"

namespace berth::edges {

struct SocketPair {
  Descriptor ours;
  Descriptor theirs;
};

/// Two ends of one connection. Both are closed when the process executes another program.
[[nodiscard]] Result<SocketPair> make_socket_pair();

enum class SendOutcome {
  kSent,
  kFull,  ///< the other side does not read; try again later
  kGone,
};
/// Never waits.
[[nodiscard]] SendOutcome send_packet(const Descriptor& socket, std::string_view bytes);

struct Received {
  enum class Kind {
    kPacket,
    kNothing,  ///< yet
    kGone,     ///< the other side closed it, or sent an empty packet
    kTooLong,
  };
  Kind kind = Kind::kNothing;
  std::string bytes = {};  ///< kPacket
};
/// Never waits. Packets have at most kPacketBytesMax bytes.
[[nodiscard]] Received receive_packet(const Descriptor& socket);

/// The process at the other end, as identified by the kernel.
struct Peer {
  std::int64_t pid = 0;
  uid_t uid = 0;
};
[[nodiscard]] std::optional<Peer> peer_of(const Descriptor& socket);

/// The socket on which the agent waits for clients.
class HandsSocket {
 public:
  /// Makes the socket (mode 0600) and gives it to `owner`, if set. A socket left by a dead process is replaced.
  /// kInvalidInput: another kind of file exists there, or the path is not valid for a socket; kUnavailable: a process
  /// listens there.
  [[nodiscard]] static Result<HandsSocket> listen(const std::string& path, std::optional<uid_t> owner);
  HandsSocket(HandsSocket&&) = default;
  HandsSocket& operator=(HandsSocket&&) = delete;
  /// Removes the file, if it is still this socket.
  ~HandsSocket();

  [[nodiscard]] int number() const { return socket_.number(); }
  /// The next connection, if there is one; never waits.
  [[nodiscard]] std::optional<Descriptor> accept() const;
  /// Whether the peer is root or the current owner of the file.
  [[nodiscard]] bool may_connect(const Peer& peer) const;

 private:
  HandsSocket(std::string path, Descriptor socket) : path_(std::move(path)), socket_(std::move(socket)) {}

  std::string path_;
  Descriptor socket_;
  dev_t device_ = 0;  ///< of the file
  ino_t inode_ = 0;
};

/// Checks that the file at a path may be trusted. kInvalidInput: it is not a socket, belongs to neither root nor this
/// user, or cannot be inspected; kNotFound: it does not exist.
[[nodiscard]] Result<void> check_hands_socket(const std::string& path);

/// Connects to the agent at a path. Errors as above, also if the process belongs to another user (nothing is sent to
/// it); kUnavailable: no process listens.
[[nodiscard]] Result<Descriptor> connect_with_hands(const std::string& path);

}  // namespace berth::edges
