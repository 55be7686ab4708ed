/// A process at the port of a replica, for tests: it answers the question who it is with the proof of a key.
#pragma once

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "edges/http_client/testing/scripted_backend.h"
#include "serving/replica_proof/replica_proof.h"

namespace berth::edges::testing {

struct ProvingReplicaOptions {
  std::string key = {};
  std::string generation = "1";                      ///< of the slice s0
  std::string answer = {};                           ///< to all other requests, with its head
  std::optional<std::string> client = std::nullopt;  ///< whose connection the proof is of; absent: the one that asks
};

class ProvingReplica {
 public:
  explicit ProvingReplica(ProvingReplicaOptions options)
      : backend_([this, options = std::move(options)](BackendConnection& connection) {
          while (const auto request = connection.receive_request()) {
            keep(*request);
            connection.send(request->starts_with("HEAD ") ? proof(options, *request, connection.peer())
                                                          : options.answer);
          }
        }) {}

  [[nodiscard]] std::string url() const { return backend_.url(); }
  [[nodiscard]] int connection_count() const { return backend_.connection_count(); }
  /// All requests.
  [[nodiscard]] std::string received() {
    const std::scoped_lock lock(mutex_);
    return received_;
  }

 private:
  static std::string proof(const ProvingReplicaOptions& options, const std::string& request, const std::string& peer) {
    const std::string name = "berth-nonce: ";
    const std::size_t at = request.find(name) + name.size();
    return fmt::format("HTTP/1.1 200 OK\r\nberth-proof: {}\r\nContent-Length: 2\r\n\r\n",
                       serving::replica_proof(options.key, {.nonce = request.substr(at, request.find('\r', at) - at),
                                                            .slice = "s0",
                                                            .generation = options.generation,
                                                            .client = options.client.value_or(peer)}));
  }
  void keep(const std::string& request) {
    const std::scoped_lock lock(mutex_);
    received_ += request;
  }

  std::mutex mutex_;
  std::string received_;
  ScriptedBackend backend_;
};

}  // namespace berth::edges::testing
