/// One HTTP request to a program on this machine, which never waits: whether it is ready.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gpu/hands/descriptor.h"

namespace berth::edges {

struct ProbeQuestion {
  int port = 0;          ///< on the loopback interface
  bool is_post = false;  ///< else GET
  std::string path;
  std::string key = {};  ///< that the program proves to have (serving/replica_proof); empty: it has none
  std::string slice = {};
  std::uint64_t generation = 0;
};

/// A status of HTTP, or why there is none.
struct ProbeAnswer {
  int status = 0;       ///< 0: none
  std::string message;  ///< "answered 503 {"error":".."}", "does not listen", ..
};

class HttpProbe {
 public:
  /// The answer, once there is one; then the next call begins anew.
  [[nodiscard]] std::optional<ProbeAnswer> step(const ProbeQuestion& question);
  void forget() { socket_.close(); }
  [[nodiscard]] bool is_open() const { return socket_.is_open(); }

 private:
  [[nodiscard]] std::optional<ProbeAnswer> begin(const ProbeQuestion& question);
  [[nodiscard]] std::optional<ProbeAnswer> send();
  [[nodiscard]] std::optional<ProbeAnswer> receive(const ProbeQuestion& question);
  [[nodiscard]] bool is_from_the_program(const ProbeQuestion& question) const;
  [[nodiscard]] ProbeAnswer end(int status, std::string message);

  Descriptor socket_;
  std::string nonce_;     ///< of the question
  std::string request_;   ///< what is not sent yet
  std::string received_;  ///< at most a few KiB
};

/// A port of the loopback interface at which nobody listens now; 0: there is none.
[[nodiscard]] int free_loopback_port();

/// Whether a process of another user listens at this port of the loopback interface: its answers are not the program's.
[[nodiscard]] bool is_taken_by_another(int port, std::int64_t uid);

}  // namespace berth::edges
