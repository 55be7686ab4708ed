/// One version of a model on the server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/ports/model_engine.h"
#include "serving/dispatch/latency_estimate.h"
#include "serving/dispatch/terms.h"
#include "serving/repository/model_repository.h"
#include "serving/service/inference_service.h"

namespace berth::serving {

/// Someone who waits for a load, and the lease that is asked for.
struct LoadWaiter {
  Micros lease;
  InferenceService::ModelDone done;
};

struct ServedVersion {
  std::string model;
  RepositoryVersion source = {};
  VersionTerms terms = {};  ///< of the source, and what the first load proved
  std::string sha256 = {};  ///< of the content of model.onnx; empty: not known yet
  bool has_no_sum = false;  ///< its file has changed since
  std::string reason = {};  ///< why it cannot serve; empty: it can
  std::shared_ptr<LoadedModel> loaded = {};
  bool is_batched = false;                      ///< requests may share batches: it is known, or proven
  std::optional<LatencyEstimate> latency = {};  ///< nothing: not measured
  std::optional<LatencyTable> simulated = {};   ///< how long the simulated device holds a lane
  bool is_obsolete = false;                     ///< another version replaces it once that is loaded
  bool is_too_large = false;  ///< its load is given back, as it took more memory than there was room for
  int frees_left = 0;         ///< evicted, and its memory not given back yet
  std::vector<LoadWaiter> load_waiters = {};
  std::vector<InferenceService::ModelDone> gone_waiters = {};  ///< of `unload`
  ModelStatistics statistics = {};
  std::optional<std::int64_t> measured_bytes = {};  ///< by its last load
  std::optional<Micros> load_time = {};             ///< of its last load
  Instant load_began = {};                          ///< the latest one that was begun
  std::optional<Instant> load_ended = {};           ///< absent: it has not ended well
};

/// Its model.onnx, with the sum if that is known.
[[nodiscard]] inline ModelFile model_file(const ServedVersion& version) {
  ModelFile file{.path = version.source.path, .sha256 = version.sha256};
  for (const auto& [name, stamp] : version.source.files) {
    if (name == kModelFile) file.stamp = stamp;
  }
  return file;
}

/// The bytes of its files.
[[nodiscard]] inline std::int64_t file_bytes(const RepositoryVersion& version) {
  std::uint64_t bytes = 0;
  for (const auto& [name, stamp] : version.files) bytes += stamp.bytes;
  return static_cast<std::int64_t>(bytes);
}

/// The bytes that a model is expected to take, before it was loaded once: measured on ONNX Runtime, which needs 2.7
/// times the bytes of the weights while it optimises the model.
[[nodiscard]] inline std::int64_t expected_bytes(std::int64_t weight_bytes) {
  constexpr std::int64_t kSmallestModel = 1 << 20;
  return weight_bytes + weight_bytes / 10 * 17 + kSmallestModel;
}

/// Before the first load: 0.1 s and 250 MB/s.
[[nodiscard]] inline Micros expected_load(std::int64_t file_bytes) { return Micros(100'000 + file_bytes / 250); }

}  // namespace berth::serving
