/// Reads one version of a model from a repository.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "serving/model_config/version_terms.h"

namespace berth::serving {

/// Next to the model of a version that `berth optimize publish` wrote.
inline constexpr std::string_view kVariantCard = "berth.json";

struct VersionReading {
  Result<VersionTerms> terms = VersionTerms{};
  /// The same files may give another result: a file could not be read, or changed while it was.
  bool may_differ_next = false;
  /// As it was opened; nothing if it was not.
  std::optional<FileStamp> model_stamp = std::nullopt;
};

/// `folder`: of the version, with model.onnx and perhaps weights. `name`: of the folder in messages, such as "m/1".
/// Errors of the terms: of reading; those of read_onnx_file and version_terms; weights outside the folder, missing or
/// too short.
[[nodiscard]] VersionReading read_version(const FileTree& tree, const std::string& folder, const std::string& name,
                                          const std::optional<ModelConfig>& config);

/// Which variant of a model it is, as kVariantCard in the folder of the version says; nothing: no such file, or another
/// content, which takes nothing from the model.
[[nodiscard]] std::optional<std::string> read_variant(const FileTree& tree, const std::string& folder);

}  // namespace berth::serving
