/// Padding before convolutions.
#pragma once

#include "models/graph/pass.h"

namespace berth::models {

/// A Pad with zeros, of the dimensions behind the channels, goes into the padding of the Conv that takes it.
[[nodiscard]] Result<bool> pad_in_conv(Model& model, const PassContext& context);

}  // namespace berth::models
