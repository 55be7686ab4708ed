/// The page of `berth optimize`: which variant of a model to use and why, as one self-contained HTML page without
/// script.
#pragma once

#include <cstddef>
#include <string>

#include "models/optimize/manifest.h"

namespace berth::report {

/// The page, UTF-8: the advice in words, the variants with their figures and the reasons of refusals, the time by batch
/// size, the loss against memory, the error of each layer, the channels kept, and what was not tried. Names are
/// escaped; absent figures are a dash. The page says what it leaves out. The same manifest gives the same bytes.
[[nodiscard]] std::string render_optimize_report(const models::Manifest& manifest);

/// The maximum number of batch sizes in the table, and of undone rewrites.
inline constexpr std::size_t kBatchColumnsMax = 6;
inline constexpr std::size_t kUndoneMax = 40;

}  // namespace berth::report
