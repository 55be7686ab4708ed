/// A request for inference and its answer, whatever protocol carried them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/tracing/span.h"
#include "domain/values/tensor.h"
#include "serving/dispatch/request.h"

namespace berth::serving {

/// A request whose trace is recorded. Changed by one thread at a time: whoever has the request.
struct InferTrace {
  Span span;             ///< of the request, begun when it arrived
  bool has_run = false;  ///< it was in a batch
};

struct InferRequest {
  std::string model;
  std::string version = {};  ///< empty: the one that serves now
  std::string id = {};       ///< of the client, given back in the answer
  TenantIndex tenant = {};
  std::vector<Tensor> inputs = {};
  std::vector<std::string> outputs = {};              ///< names of those wanted, in this order; empty: all
  std::int64_t priority = 1;                          ///< 1 to 1000, 1 is the highest
  std::optional<Micros> timeout = std::nullopt;       ///< above 0: shortens the model's target
  std::optional<TraceContext> caller = std::nullopt;  ///< what its client says of its trace
  std::shared_ptr<InferTrace> trace = nullptr;        ///< set by the service; null: it is not recorded
};

struct InferAnswer {
  std::string model;
  std::string version;
  std::string id;
  std::vector<Tensor> outputs;
};

/// Why a request is not answered: each kind has one status in every protocol.
enum class ServeFault {
  kMalformed,     ///< 400, INVALID_ARGUMENT: not what the protocol or the model wants
  kNoKey,         ///< 401, UNAUTHENTICATED
  kUnknown,       ///< 404, NOT_FOUND: no such model, version or path
  kTooLarge,      ///< 413, RESOURCE_EXHAUSTED
  kRejected,      ///< 429, RESOURCE_EXHAUSTED: it would be late, or a queue is full
  kEngineFailed,  ///< 500, INTERNAL
  kNotOffered,    ///< 501, UNIMPLEMENTED: known to the protocol, but not done by this server
  kUnavailable,   ///< 503, UNAVAILABLE: the model cannot serve now, or the server is about to end
  kExpired,       ///< 504, DEADLINE_EXCEEDED: it waited until it could no longer be in time
  kCancelled,     ///< 499, CANCELLED: its client left
};

/// A request that was refused before it could be given to the service: it could not be read, or is not taken.
struct RefusedRequest {
  std::string span = "infer";                         ///< name of its span in a trace
  std::string model = {};                             ///< empty: not known
  std::optional<TraceContext> caller = std::nullopt;  ///< what its client says of its trace
  ServeFault fault = {};
};

struct ServeError {
  ServeFault fault = ServeFault::kMalformed;
  std::string message;                               ///< what was wanted and what was found
  std::optional<Micros> retry_after = std::nullopt;  ///< when trying again may help

  friend bool operator==(const ServeError&, const ServeError&) = default;
};

template <class T>
using ServeResult = tl::expected<T, ServeError>;

[[nodiscard]] inline tl::unexpected<ServeError> refuse(ServeFault fault, std::string message) {
  return tl::unexpected<ServeError>(ServeError{.fault = fault, .message = std::move(message)});
}

}  // namespace berth::serving
