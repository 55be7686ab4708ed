/// Sockets that keep packets apart (SOCK_SEQPACKET), and who may connect to whom.
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
  kFull,  ///< the other side does not read: later
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

/// The process at the other end, as the kernel knows it.
struct Peer {
  std::int64_t pid = 0;
  uid_t uid = 0;
};
[[nodiscard]] std::optional<Peer> peer_of(const Descriptor& socket);

/// Where hands wait for a client.
class HandsSocket {
 public:
  /// Makes the socket (mode 0600) and gives it to `owner`, if one is named. One that a dead process left is replaced.
  /// kInvalidInput: something else is there, or the path cannot be one; kUnavailable: a process listens there.
  [[nodiscard]] static Result<HandsSocket> listen(const std::string& path, std::optional<uid_t> owner);
  HandsSocket(HandsSocket&&) = default;
  HandsSocket& operator=(HandsSocket&&) = delete;
  /// Removes the file, if it is still this socket.
  ~HandsSocket();

  [[nodiscard]] int number() const { return socket_.number(); }
  /// The next connection, if there is one; never waits.
  [[nodiscard]] std::optional<Descriptor> accept() const;
  /// Root, and whoever owns the file now.
  [[nodiscard]] bool may_connect(const Peer& peer) const;

 private:
  HandsSocket(std::string path, Descriptor socket) : path_(std::move(path)), socket_(std::move(socket)) {}

  std::string path_;
  Descriptor socket_;
  dev_t device_ = 0;  ///< of the file
  ino_t inode_ = 0;
};

/// Whether the file at a path may be trusted. kInvalidInput: it is no socket, or belongs to neither root nor this
/// user, or cannot be looked at; kNotFound: nothing is there.
[[nodiscard]] Result<void> check_hands_socket(const std::string& path);

/// Connects with the hands at a path. The same errors, also for a process of another user: nothing is sent to it;
/// kUnavailable: nobody listens.
[[nodiscard]] Result<Descriptor> connect_with_hands(const std::string& path);

}  // namespace berth::edges
