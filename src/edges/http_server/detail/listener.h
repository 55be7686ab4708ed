/// A listening socket, opened here so that a failure names the address and the reason.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/core/result.h"

struct sockaddr;

namespace berth::edges::detail {

/// A listening socket and its port. Closes itself unless released.
class Listener {
 public:
  Listener(int socket, std::uint16_t port) : socket_(socket), port_(port) {}
  Listener(Listener&& other) noexcept : socket_(std::exchange(other.socket_, -1)), port_(other.port_) {}
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// From now on the caller must close it.
  void release() { socket_ = -1; }

 private:
  int socket_;
  std::uint16_t port_;
};

/// Listens at the first address of the host; port 0 is any free port. Errors: "HOST:PORT: why"; kInvalidInput if the
/// host is unknown, otherwise kUnavailable (in use, not permitted).
[[nodiscard]] Result<Listener> listen_at(const std::string& host, std::uint16_t port);

/// "127.0.0.1:80" or "[::1]:80"; empty for other families.
[[nodiscard]] std::string address_text(const sockaddr* address);

}  // namespace berth::edges::detail
