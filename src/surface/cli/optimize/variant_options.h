/// The options of what is done with the folder of an earlier `berth optimize`: verify, export, publish.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "models/optimize/optimize_request.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct VerifyVariantsWords {
  std::string folder = {};
  std::optional<std::string> original = std::nullopt;
  std::optional<std::string> calibration = std::nullopt;
  std::optional<std::string> evaluation = std::nullopt;
  std::optional<std::string> engine = std::nullopt;
  std::string format = "table";
};
struct ExportVariantsWords {
  std::string folder = {};
  std::string as = {};
};
struct PublishVariantWords {
  std::string folder = {};
  std::optional<std::string> variant = std::nullopt;
  std::string repository = {};
};

struct CheckedVerify {
  models::VerifyRequest request;
  OutputFormat format = OutputFormat::kTable;
};
struct ExportVariantsRequest {
  std::string folder;
  std::string gpu;      ///< the full name of the model
  std::string profile;  ///< of that GPU
};
struct PublishVariantRequest {
  std::string folder;
  std::optional<std::string> variant;  ///< nothing: the recommended one
  std::string repository;
  std::string model;  ///< the name of its folder there
};

[[nodiscard]] OptionTable verify_variants_option_rows(VerifyVariantsWords& words);
[[nodiscard]] OptionTable export_variants_option_rows(ExportVariantsWords& words);
[[nodiscard]] OptionTable publish_variant_option_rows(PublishVariantWords& words);

[[nodiscard]] Result<CheckedVerify> check_verify_variants(const VerifyVariantsWords& words);
[[nodiscard]] Result<ExportVariantsRequest> check_export_variants(const ExportVariantsWords& words);
[[nodiscard]] Result<PublishVariantRequest> check_publish_variant(const PublishVariantWords& words);

}  // namespace berth::cli
