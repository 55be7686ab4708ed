/// The file of a simulated device: how long batches and loads of its models take.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "serving/dispatch/terms.h"

namespace berth::serving {

struct SimulatedModel {
  LatencyTable latency;
  std::int64_t bytes = 0;
};

struct SimulatedDevice {
  std::string name;
  std::string origin;  ///< where the figures are from; empty if the file does not say
  int lanes = 1;
  std::int64_t memory = 0;  ///< bytes for models
  RowCount batch_max = 1;
  Decimal load_seconds;                          ///< of every load
  std::int64_t load_bytes_per_second = 1;        ///< after that
  std::map<std::string, SimulatedModel> models;  ///< "*": any other model

  /// The terms of a model; nothing if the file has none for it.
  [[nodiscard]] std::optional<ModelTerms> terms_of(const std::string& model) const;
};

/// YAML, docs/reference/serve.md. Errors, as FILE:LINE:COLUMN: unknown or missing keys, values out of range, a model
/// that is larger than the memory.
[[nodiscard]] Result<SimulatedDevice> read_device_file(std::string_view text, std::string_view file);

}  // namespace berth::serving
