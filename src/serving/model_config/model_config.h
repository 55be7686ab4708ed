/// What a model's config.pbtxt says, in Triton's format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "base/core/text.h"
#include "domain/values/tensor.h"

namespace berth::serving {

/// An input or output that the config lists.
struct ConfiguredTensor {
  std::string name;
  std::optional<TensorType> type = std::nullopt;                 ///< nothing: as in the model's file
  std::optional<std::vector<std::int64_t>> dims = std::nullopt;  ///< likewise; -1: any size. Batched: without the rows
  TextPlace place = {};

  friend bool operator==(const ConfiguredTensor&, const ConfiguredTensor&) = default;
};

/// Which versions of a model serve.
struct VersionPolicy {
  enum class Kind { kLatest, kAll, kSpecific };
  Kind kind = Kind::kLatest;
  std::int64_t latest_count = 1;            ///< of kLatest, at least 1
  std::vector<std::int64_t> versions = {};  ///< of kSpecific, ascending, at least one

  friend bool operator==(const VersionPolicy&, const VersionPolicy&) = default;
};

struct ModelConfig {
  std::string file;  ///< as messages name it
  std::string name = {};
  std::string platform = {};
  std::string backend = {};
  std::optional<std::int64_t> max_batch_size = std::nullopt;  ///< at least 0; nothing: not written
  TextPlace max_batch_size_place = {};
  std::vector<ConfiguredTensor> inputs = {};
  std::vector<ConfiguredTensor> outputs = {};
  VersionPolicy version_policy = {};
  std::map<std::string, std::string> parameters = {};
  std::optional<Micros> target = std::nullopt;           ///< of the parameter target_ms
  std::optional<Micros> default_timeout = std::nullopt;  ///< above 0
  std::optional<std::int64_t> queue_max = std::nullopt;  ///< requests that may wait, at least 1
  std::vector<std::string> ignored = {};                 ///< written fields without effect here: they tune speed

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

/// Targets and timeouts above this count as this.
inline constexpr Micros kTargetMax = Micros::seconds(86'400);

/// Reads the config of the model `model`. Errors, "FILE:LINE:COLUMN: FIELD: why": not the text format of protocol
/// buffers, an unknown field, a field that changes what the model means and is not offered, a model of another engine,
/// values out of range.
[[nodiscard]] Result<ModelConfig> read_model_config(std::string_view text, std::string_view file,
                                                    std::string_view model);

}  // namespace berth::serving
