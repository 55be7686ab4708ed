/// A made-up transformer.
#pragma once

#include <cstdint>

#include "base/core/rng.h"
#include "models/graph/graph.h"

namespace berth::models {

struct BertOptions {
  std::int64_t layer_count = 4;
  std::int64_t width = 256;
  std::int64_t head_count = 4;
  std::int64_t vocabulary = 1000;
  std::int64_t length_max = 128;
  std::int64_t class_count = 2;
  std::int64_t opset = 17;  ///< 13 to 21
};

/// logits [batch, classes] of input_ids and attention_mask [batch, length], int64: an encoder (Devlin et al. 2018,
/// arXiv:1810.04805) as exporters write it: normalisation and Gelu by their parts, sizes computed, constants in nodes.
/// By default of the shape of BERT-mini, but for its vocabulary. Weights are drawn. Requires: sizes above 0, head_count
/// divides width.
[[nodiscard]] Model bert(const BertOptions& options, Rng rng);

}  // namespace berth::models
