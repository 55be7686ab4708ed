#include "edges/grpc_server/oip/grpc_status.h"

#include <algorithm>
#include <cstdint>

namespace berth::edges {
namespace {

using serving::ServeError;
using serving::ServeFault;

/// Without a piece of a character at the end.
std::string shortened(const std::string& text) {
  if (text.size() <= kStatusBytesMax) return text;
  std::size_t size = kStatusBytesMax;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size) + "...";
}

}  // namespace

grpc::StatusCode status_code(ServeFault fault) {
  switch (fault) {
    case ServeFault::kMalformed:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case ServeFault::kNoKey:
      return grpc::StatusCode::UNAUTHENTICATED;
    case ServeFault::kUnknown:
      return grpc::StatusCode::NOT_FOUND;
    case ServeFault::kTooLarge:
    case ServeFault::kRejected:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case ServeFault::kEngineFailed:
      return grpc::StatusCode::INTERNAL;
    case ServeFault::kNotOffered:
      return grpc::StatusCode::UNIMPLEMENTED;
    case ServeFault::kUnavailable:
      return grpc::StatusCode::UNAVAILABLE;
    case ServeFault::kExpired:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case ServeFault::kCancelled:
      return grpc::StatusCode::CANCELLED;
  }
  return grpc::StatusCode::INTERNAL;
}

grpc::Status status_of(const ServeError& error) { return {status_code(error.fault), shortened(error.message)}; }

std::optional<std::string> retry_after_ms(const ServeError& error) {
  constexpr std::int64_t kMicrosPerMilli = 1000;
  if (!error.retry_after) return std::nullopt;
  const std::int64_t micros = std::max<std::int64_t>(error.retry_after->count(), 0);
  return std::to_string(micros / kMicrosPerMilli + (micros % kMicrosPerMilli == 0 ? 0 : 1));
}

}  // namespace berth::edges
