/// What is reported of a request that a backend served, or should have served.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/core/instant.h"
#include "domain/tracing/span.h"
#include "serving/dispatch/request.h"

namespace berth::openai {

/// As a backend counts them; nothing where it does not say.
struct TokenUsage {
  std::optional<std::int64_t> prompt_tokens = std::nullopt;
  std::optional<std::int64_t> completion_tokens = std::nullopt;

  friend bool operator==(const TokenUsage&, const TokenUsage&) = default;
};

enum class ProxiedOutcome {
  kAnswered,   ///< completely, with the backend's status
  kRejected,   ///< the backend has too many requests; it was not sent
  kFailed,     ///< the backend refused the connection, or its answer broke
  kCancelled,  ///< the client left
};

struct ProxiedRequest {
  std::string model;
  serving::TenantIndex tenant = {};
  ProxiedOutcome outcome = ProxiedOutcome::kAnswered;
  int status = 200;  ///< of the answer
  TokenUsage usage = {};
  Instant began = {};
  Instant ended = {};
  std::optional<Span> span = std::nullopt;  ///< begun; absent: it is not recorded
};

}  // namespace berth::openai
