#include <fmt/format.h>

#include "edges/grpc_server/grpc_server.h"

namespace berth::edges {

struct GrpcServer::Running {};

GrpcServer::GrpcServer(std::unique_ptr<Running> running) : running_(std::move(running)) {}
GrpcServer::~GrpcServer() = default;
std::uint16_t GrpcServer::port() const { return 0; }
void GrpcServer::stop() {}

bool has_grpc() { return false; }

Result<std::unique_ptr<GrpcServer>> start_grpc_server(const GrpcServerOptions& options,
                                                      serving::InferenceService& /*service*/) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("{}:{}: gRPC is not built in: its libraries were missing when the program was built "
                          "(scripts/setup, then scripts/build)",
                          options.host, options.port));
}

}  // namespace berth::edges
