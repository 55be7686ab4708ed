#include "edges/grpc_server/oip/call.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "edges/grpc_server/oip/grpc_status.h"

namespace berth::edges {
namespace {

using serving::ServeError;
using serving::ServeFault;

}  // namespace

void Call::begin(CallHandler handler, serving::TenantIndex tenant) {
  handler_ = handler;
  tenant_ = tenant;
  StartRead(&message_);
}

std::optional<Micros> Call::time_left() const {
  using Clock = std::chrono::system_clock;
  const Clock::time_point deadline = context_.deadline();
  if (deadline == Clock::time_point::max()) return std::nullopt;
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now());
  return Micros(left.count());
}

std::optional<TraceContext> Call::caller() const {
  std::vector<HttpField> fields;
  for (const char* name : {"traceparent", "tracestate"}) {
    const auto [first, last] = context_.client_metadata().equal_range(name);
    for (auto at = first; at != last; ++at) fields.push_back({name, {at->second.data(), at->second.size()}});
  }
  return trace_context_of(fields);
}

void Call::note_refused(const std::string& model, ServeFault fault) {
  if (!has_ended_) service_.note_refused({.model = model, .caller = caller(), .fault = fault});
}

void Call::answer(const grpc::ByteBuffer& answer) {
  if (!claim_end()) return;
  answer_ = answer;
  StartWriteAndFinish(&answer_, grpc::WriteOptions(), grpc::Status::OK);
}

void Call::refuse(const ServeError& error) {
  if (!claim_end()) return;
  if (auto retry = retry_after_ms(error)) context_.AddTrailingMetadata("retry-after-ms", *retry);
  Finish(status_of(error));
}

void Call::set_number(serving::InferenceService::RequestNumber number) {
  {
    const std::lock_guard lock(cancelling_);
    number_ = number;
    if (!is_cancelled_) return;
  }
  service_.cancel(number);
}

void Call::cancel_request() {
  std::optional<serving::InferenceService::RequestNumber> number;
  {
    const std::lock_guard lock(cancelling_);
    is_cancelled_ = true;
    number = number_;
  }
  if (number) service_.cancel(*number);
}

void Call::end() {
  refuse({.fault = ServeFault::kUnavailable, .message = "the server ends"});
  cancel_request();
}

void Call::OnReadDone(bool is_read) {
  const std::shared_ptr<Call> self = shared_from_this();
  if (!is_read) return refuse({.message = "wanted a message, found none"});
  if (has_ended_) return;
  try {
    handler_(self, message_);
  } catch (const std::exception& error) {  // no memory
    refuse({.fault = ServeFault::kEngineFailed, .message = fmt::format("the call failed: {}", error.what())});
  }
  message_.Clear();
}

void Call::OnCancel() {
  // A request past its client's deadline is past its own, too: the service drops it, as one that has expired.
  const std::optional<Micros> left = time_left();
  const bool has_expired = left && *left <= Micros(0);
  refuse({.fault = has_expired ? ServeFault::kExpired : ServeFault::kCancelled, .message = "the client has left"});
  if (!has_expired) cancel_request();
}

void Call::OnDone() {
  const std::shared_ptr<Reactors<Call>> calls = calls_;
  calls->remove(this);
}

}  // namespace berth::edges
