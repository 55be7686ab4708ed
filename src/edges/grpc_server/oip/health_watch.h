/// A stream that says whether the server serves, and says so again when that changes.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>
#include <health.pb.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "edges/grpc_server/oip/reactors.h"
#include "serving/service/inference_service.h"

namespace berth::edges {

using HealthStatus = grpc::health::v1::HealthCheckResponse::ServingStatus;

/// SERVICE_UNKNOWN unless the name is empty or that of the protocol.
[[nodiscard]] HealthStatus health_of(const serving::InferenceService& service, std::string_view service_name);

class HealthWatch final : public grpc::ServerGenericBidiReactor {
 public:
  /// The service is borrowed until the call has ended.
  HealthWatch(const serving::InferenceService& service, std::shared_ptr<Reactors<HealthWatch>> watches)
      : service_(service), watches_(std::move(watches)) {}

  /// Requires: it is among the watches.
  void begin() { StartRead(&message_); }
  /// Sends the status if it is not the last one sent. Any thread.
  void update();
  /// Any thread; the first call counts.
  void end(const grpc::Status& status);

  // Called by gRPC.
  void OnReadDone(bool is_read) override;
  void OnWriteDone(bool is_written) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  [[nodiscard]] bool prepare_write();
  [[nodiscard]] bool claim_finish();

  const serving::InferenceService& service_;
  const std::shared_ptr<Reactors<HealthWatch>> watches_;
  grpc::ByteBuffer message_;
  grpc::ByteBuffer answer_;

  std::mutex mutex_;
  std::optional<std::string> service_name_;  ///< once it is read
  std::optional<HealthStatus> last_sent_;
  bool is_writing_ = false;
  std::optional<grpc::Status> end_;  ///< wanted; gRPC finishes after the last write
  bool is_finished_ = false;
};

}  // namespace berth::edges
