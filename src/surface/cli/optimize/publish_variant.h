/// `berth optimize publish`: a variant as the next version of a model of `berth serve`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/optimize/variant_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Writes the version, which appears whole, with `berth.json` next to `model.onnx`. Returns a line that names its
/// folder. Errors: the variant is not kept, or its file is not what the manifest says; its inputs or outputs differ
/// from those of the newest version there; the repository is missing or cannot be written.
[[nodiscard]] Result<std::string> run_publish_variant(const PublishVariantRequest& request, const VerbContext& context);

}  // namespace berth::cli
