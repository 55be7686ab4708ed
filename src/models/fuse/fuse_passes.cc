#include "models/fuse/fuse_passes.h"

#include <array>

#include "models/fuse/constant_nodes.h"
#include "models/fuse/duplicates.h"
#include "models/fuse/fold_affine.h"
#include "models/fuse/fold_constants.h"
#include "models/fuse/fold_sizes.h"
#include "models/fuse/functions.h"
#include "models/fuse/gemm.h"
#include "models/fuse/no_ops.h"
#include "models/fuse/pads.h"
#include "models/fuse/reshapes.h"
#include "models/fuse/transposes.h"

namespace berth::models {
namespace {

/// Constants first, as the others look for them; functions before the folding of what is multiplied and added in them;
/// what has become useless or double last.
constexpr std::array<Pass, 17> kPasses = {{
    {.name = "drop-weight-inputs", .apply = drop_weight_inputs},
    {.name = "initialize-constants", .apply = initialize_constants},
    {.name = "fold-sizes", .apply = fold_sizes},
    {.name = "fold-constants", .apply = fold_constants},
    {.name = "drop-no-ops", .apply = drop_no_ops},
    {.name = "merge-equal-nodes", .apply = merge_equal_nodes},
    {.name = "merge-transposes", .apply = merge_transposes},
    {.name = "merge-reshapes", .apply = merge_reshapes},
    {.name = "name-layer-normalization", .apply = name_layer_normalization},
    {.name = "name-gelu", .apply = name_gelu},
    {.name = "fold-affine", .apply = fold_affine},
    {.name = "fold-affine-before", .apply = fold_affine_before},
    {.name = "pad-in-conv", .apply = pad_in_conv},
    {.name = "make-gemm", .apply = make_gemm},
    {.name = "transpose-in-gemm", .apply = transpose_in_gemm},
    {.name = "merge-equal-weights", .apply = merge_equal_weights},
    {.name = "drop-dead", .apply = drop_dead},
}};

}  // namespace

std::span<const Pass> fuse_passes() { return kPasses; }

}  // namespace berth::models
