/// A connection that is made and checked before libcurl gets it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/core/result.h"
#include "domain/ports/http_client.h"

namespace berth::edges::detail {

/// Never waits: `step` is called when the socket is ready for what `wants_to_write` says.
class PeerConnection {
 public:
  enum class Progress { kGoesOn, kChecked };

  explicit PeerConnection(std::shared_ptr<const HttpPeerCheck> check) : check_(std::move(check)) {}
  PeerConnection(const PeerConnection&) = delete;
  PeerConnection& operator=(const PeerConnection&) = delete;
  ~PeerConnection();

  /// Begins to connect. Errors: kInvalidInput unless the URL begins with http://127.0.0.1:PORT; kNoServer.
  [[nodiscard]] Result<void> begin(const std::string& url);
  /// Error (kNoServer): nobody is there, or another process than the expected one.
  [[nodiscard]] Result<Progress> step();

  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] bool wants_to_write() const { return !is_asked_; }
  /// The port of this side.
  [[nodiscard]] std::uint16_t local_port() const { return local_port_; }
  /// The caller closes it from now on.
  [[nodiscard]] int release();

 private:
  [[nodiscard]] Result<Progress> connected();
  [[nodiscard]] Result<Progress> send();
  [[nodiscard]] Result<Progress> receive();
  [[nodiscard]] Result<Progress> judge();
  [[nodiscard]] Error no_server(const std::string& why) const;

  const std::shared_ptr<const HttpPeerCheck> check_;
  std::string host_;  ///< and port
  int port_ = 0;
  int socket_ = -1;
  std::uint16_t local_port_ = 0;
  bool is_connected_ = false;
  bool is_asked_ = false;
  HttpPeerQuestion question_;
  std::string request_;  ///< what is not sent yet
  std::string answer_;
};

}  // namespace berth::edges::detail
