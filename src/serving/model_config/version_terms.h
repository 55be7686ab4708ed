/// How one version of a model is served: what its file and its config say together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/values/tensor.h"
#include "models/onnx_file/onnx_file.h"
#include "serving/model_config/model_config.h"

namespace berth::serving {

struct VersionTerms {
  std::vector<TensorSignature> inputs = {};  ///< as clients see them: if batched with the dimension of rows, -1, first
  /// Likewise. With a config perhaps not all that the model has, and in the config's order. One whose shape is known to
  /// nobody has the shape {-1} and may come with any number of dimensions: then the model is not batched.
  std::vector<TensorSignature> outputs = {};
  std::int64_t rows_max = 0;            ///< of a batch, at least 1; 0: requests run alone
  bool needs_proof = false;             ///< whether rows are independent is not known: if not, requests run alone
  Micros target = Micros::seconds(30);  ///< from arrival to deadline
  std::optional<std::int64_t> queue_max = std::nullopt;  ///< requests that may wait; nothing: the server's limit
  std::int64_t weight_bytes = 0;                         ///< in memory, as the file says

  friend bool operator==(const VersionTerms&, const VersionTerms&) = default;
};

/// Rows of a batch where no config says it.
inline constexpr std::int64_t kRowsMaxDefault = 64;

/// Without a config, or with one that neither lists tensors nor writes max_batch_size, the file decides. `file_name` is
/// how messages name the model's file. Errors, naming the field and both values: the config lists other tensors, types
/// or sizes than the file; it wants batches of a model that takes only a fixed number of rows; an input has no shape.
[[nodiscard]] Result<VersionTerms> version_terms(const models::OnnxFile& file, std::string_view file_name,
                                                 const std::optional<ModelConfig>& config);

}  // namespace berth::serving
