/// `berth optimize export`: kept variants as variants of a service in a scenario.
#pragma once

#include <string>

#include "base/core/result.h"
#include "models/optimize/manifest.h"
#include "surface/cli/optimize/variant_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The block, and the file of its profiles.
struct ExportedVariants {
  std::string block;     ///< YAML: the key `variants` of a service, indented as in a scenario
  std::string csv_path;  ///< in the folder of the variants
  std::string csv;       ///< the original, and each kept variant
};

/// Errors: no variant is kept.
[[nodiscard]] Result<ExportedVariants> export_variants(const models::Manifest& manifest,
                                                       const ExportVariantsRequest& request);

/// Writes the csv, and returns the block.
[[nodiscard]] Result<std::string> run_export_variants(const ExportVariantsRequest& request, const VerbContext& context);

}  // namespace berth::cli
