#include "edges/grpc_server/oip/health_watch.h"

#include <string>

#include "edges/grpc_server/oip/wire.h"

namespace berth::edges {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

HealthStatus health_of(const serving::InferenceService& service, std::string_view service_name) {
  if (!service_name.empty() && service_name != "inference.GRPCInferenceService") {
    return HealthCheckResponse::SERVICE_UNKNOWN;
  }
  return service.is_ready() ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

// No lock is held where gRPC is called: it may call back at once.
void HealthWatch::update() {
  if (prepare_write()) StartWrite(&answer_);
}

bool HealthWatch::prepare_write() {
  const std::lock_guard lock(mutex_);
  if (!service_name_ || is_writing_ || end_) return false;
  const HealthStatus status = health_of(service_, *service_name_);
  if (status == last_sent_) return false;
  HealthCheckResponse message;
  message.set_status(status);
  answer_ = write_message(message);
  last_sent_ = status;
  is_writing_ = true;
  return true;
}

void HealthWatch::end(const grpc::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (!end_) end_ = status;
  }
  if (claim_finish()) Finish(*end_);
}

bool HealthWatch::claim_finish() {
  const std::lock_guard lock(mutex_);
  if (!end_ || is_writing_ || is_finished_) return false;
  is_finished_ = true;
  return true;
}

void HealthWatch::OnReadDone(bool is_read) {
  HealthCheckRequest request;
  if (!is_read || read_message(message_, {}, request) != ReadOutcome::kRead) {
    return end({grpc::StatusCode::INVALID_ARGUMENT, "wanted a HealthCheckRequest, found something else"});
  }
  {
    const std::lock_guard lock(mutex_);
    service_name_ = request.service();
  }
  update();
}

void HealthWatch::OnWriteDone(bool is_written) {
  {
    const std::lock_guard lock(mutex_);
    is_writing_ = false;
    if (!is_written && !end_) end_ = grpc::Status::CANCELLED;
  }
  if (claim_finish()) return Finish(*end_);
  update();
}

void HealthWatch::OnCancel() { end(grpc::Status::CANCELLED); }

void HealthWatch::OnDone() {
  const std::shared_ptr<Reactors<HealthWatch>> watches = watches_;
  watches->remove(this);
}

}  // namespace berth::edges
