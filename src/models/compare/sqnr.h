/// The ratio of signal to quantisation noise.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "domain/values/tensor.h"

namespace berth::models {

/// 10 log10 of the sum of y^2 / the sum of squared differences, in decibels; infinite if nothing differs, and minus
/// infinity if a variant's value is not finite where the original's is. Requires: equal lengths.
[[nodiscard]] double sqnr_db(std::span<const float> original, std::span<const float> variant);

/// Of the first output of a float type; infinite if there is none. Requires: the same outputs with the same shapes.
[[nodiscard]] double sqnr_db(std::span<const Tensor> original, std::span<const Tensor> variant);

/// The sum of squared differences of each row of the first output of a float type; infinite as in sqnr_db, and 0 if
/// there is no such output. Requires: the same outputs with the same shapes, whose first dimension is `rows`.
[[nodiscard]] std::vector<double> row_noise(std::span<const Tensor> original, std::span<const Tensor> variant,
                                            std::size_t rows);

}  // namespace berth::models
