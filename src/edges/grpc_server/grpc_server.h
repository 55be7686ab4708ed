/// The Open Inference Protocol over gRPC, and `grpc.health.v1`, for an InferenceService. Only this folder uses gRPC and
/// Protocol Buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/core/result.h"
#include "serving/service/inference_service.h"

namespace berth::edges {

struct GrpcServerOptions {
  std::string host = "127.0.0.1";  ///< 127.x.x.x, ::1 or localhost, which is 127.0.0.1
  std::uint16_t port = 0;          ///< 0: any free one, see GrpcServer::port
  /// Of a message: the data of tensors, and what stands around it.
  std::size_t message_bytes_max = std::size_t{65} << 20U;
  std::size_t call_count_max = 16'384;  ///< under way; more are answered with RESOURCE_EXHAUSTED
  std::size_t watch_count_max = 64;     ///< streams of Health/Watch
  /// For what arrives and is not yet complete, of all connections; beyond it gRPC ends streams.
  std::size_t memory_bytes_max = std::size_t{1} << 30U;
};

/// A server that runs. Its threads are gRPC's, and one that looks for changes of the health while it is watched.
class GrpcServer {
 public:
  struct Running;

  explicit GrpcServer(std::unique_ptr<Running> running);
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;
  ~GrpcServer();  ///< stops it

  [[nodiscard]] std::uint16_t port() const;
  /// Ends: calls under way get UNAVAILABLE, and their requests are cancelled. When it returns, the service is no longer
  /// called, and its `done` does nothing.
  void stop();

 private:
  std::unique_ptr<Running> running_;
};

/// Whether gRPC was there when the program was built; otherwise `start_grpc_server` only fails.
[[nodiscard]] bool has_grpc();

/// Starts a server. The service is borrowed and must outlive it.
///
/// Codes are those of ServeFault; `retry-after-ms` is in the trailing metadata where trying again may help. If the
/// service has tenants, all but health checks (Health, ServerLive, ServerReady) need the key of one in the field
/// `authorization`. The deadline of a ModelInfer shortens its request's timeout, and a client that leaves cancels it.
/// Messages that are compressed are refused with UNIMPLEMENTED.
///
/// Errors: kInvalidInput for a host that is not loopback, kUnavailable if the address is in use or not permitted, or
/// gRPC was not there when the program was built; the message begins with "HOST:PORT".
[[nodiscard]] Result<std::unique_ptr<GrpcServer>> start_grpc_server(const GrpcServerOptions& options,
                                                                    serving::InferenceService& service);

}  // namespace berth::edges
