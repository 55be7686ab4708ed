/// A mig-parted file inside a Kubernetes ConfigMap, as NVIDIA's GPU operator reads it.
#pragma once

#include <string>
#include <string_view>

#include "base/core/result.h"
#include "base/yaml/document.h"

namespace berth::migparted {

/// The tree of a mig-parted file, and its name for messages.
struct FileRoot {
  yaml::Node node;
  std::string file;
};

/// The root of a mig-parted file, or of the one in a ConfigMap: the text under `data."config.yaml"`, or under the only
/// key of `data`. Of several documents the only ConfigMap with that key counts.
///
/// Places are those of the whole text if the inner file is a literal block (`config.yaml: |`); otherwise they are
/// within the inner text, and the name says so: `cm.yaml: data."config.yaml"`. Errors: those of YAML; another kind than
/// ConfigMap; no such key, or no text under it.
[[nodiscard]] Result<FileRoot> read_file_root(std::string_view text, std::string_view file);

}  // namespace berth::migparted
