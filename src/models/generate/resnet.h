/// Made-up convolutional models.
#pragma once

#include <cstdint>
#include <vector>

#include "base/core/rng.h"
#include "models/graph/graph.h"

namespace berth::models {

struct ResNetOptions {
  std::vector<std::int64_t> blocks = {3, 4, 6, 3};  ///< per stage; each stage halves the image and doubles the channels
  std::int64_t width = 64;                          ///< inner channels of the first stage
  std::int64_t image = 224;                         ///< pixels a side; at least 32
  std::int64_t class_count = 1000;
};

/// y [batch, classes] of x [batch, 3, image, image], floats: a residual network with bottlenecks (He et al. 2015,
/// arXiv:1512.03385), with BatchNormalization behind each Conv as exporters write it. By default of the shape of
/// ResNet-50. Weights are drawn. Requires: sizes above 0.
[[nodiscard]] Model resnet(const ResNetOptions& options, Rng rng);

struct SmallCnnOptions {
  std::int64_t image = 8;  ///< pixels a side; at least 4
  std::int64_t channels = 16;
  std::int64_t class_count = 10;
};

/// y [batch, classes] of x [batch, 1, image, image], floats: a plain network as exporters write it: Conv with a bias
/// that is added, BatchNormalization, Dropout and Identity, the sizes of Flatten computed, products of matrices with
/// Add.
[[nodiscard]] Model small_cnn(const SmallCnnOptions& options, Rng rng);

}  // namespace berth::models
