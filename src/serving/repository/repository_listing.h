/// What is in a repository of models: Triton's layout, MODEL/config.pbtxt and MODEL/VERSION/model.onnx.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/file_tree.h"

namespace berth::serving {

inline constexpr std::string_view kConfigFile = "config.pbtxt";
inline constexpr std::string_view kModelFile = "model.onnx";

struct ListedVersion {
  std::int64_t number = 0;
  std::vector<FolderEntry> files = {};  ///< by name; no folders
  std::string fault = {};               ///< why it cannot be listed; empty: it can

  friend bool operator==(const ListedVersion&, const ListedVersion&) = default;
};

struct ListedModel {
  std::string name;
  std::optional<FolderEntry> config = std::nullopt;
  std::vector<ListedVersion> versions = {};  ///< ascending
  std::string fault = {};                    ///< why it cannot be listed; empty: it can

  friend bool operator==(const ListedModel&, const ListedModel&) = default;
};

/// The models by name. Folders are models, those of whole numbers in them versions; files next to them and names that
/// begin with a dot are left out, and so is what vanishes meanwhile. Errors: the root cannot be listed.
[[nodiscard]] Result<std::vector<ListedModel>> list_repository(const FileTree& tree, const std::string& root);

/// The number of a version folder: digits only, the first of them not 0.
[[nodiscard]] std::optional<std::int64_t> version_number(std::string_view name);

}  // namespace berth::serving
