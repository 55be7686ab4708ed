/// What a dispatcher is made of: models, tenants, a device, a policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "serving/dispatch/latency_table.h"

namespace berth::serving {

struct ModelTerms {
  std::string name;
  std::int64_t bytes = 0;
  Micros load;  ///< how long it takes to load
  LatencyTable latency;
  std::int64_t bytes_loading = 0;  ///< reserved during a load, if more than `bytes`: its peak
  std::int64_t queue_max = 0;      ///< requests that may wait; 0: no limit
};

struct TenantTerms {
  std::string name;
  std::int64_t weight = 1;
};

enum class RivalKind {
  kEager,  ///< what waits runs: Triton's batcher without a delay
  kDelay,  ///< a full batch runs at once, others when the oldest request has waited for the delay: Triton's batcher
  kAimd,   ///< a cap of each model's batches, additive increase and multiplicative decrease: Clipper (NSDI 2017)
};

enum class EvictionRule {
  kValue,  ///< the least demand x reload time / bytes goes first
  kLru,    ///< the least recently used goes first
  kWarm,   ///< the least probability of a request soon x reload time / bytes goes first, and models are preloaded
};

/// Berth's own policy, or a rival.
struct DispatchPolicy {
  std::optional<RivalKind> rival = std::nullopt;
  Micros delay = {};  ///< of RivalKind::kDelay

  friend bool operator==(const DispatchPolicy&, const DispatchPolicy&) = default;
};

struct DispatchTerms {
  DispatchPolicy policy;
  EvictionRule eviction = EvictionRule::kValue;  ///< of Berth's policy: rivals evict the least recently used
  std::int64_t memory = 0;                       ///< in bytes
  int lanes = 1;
  std::int64_t queue_max = 0;        ///< requests of all models that may wait; 0: no limit
  std::int64_t queue_bytes_max = 0;  ///< of their data; 0: no limit
};

}  // namespace berth::serving
