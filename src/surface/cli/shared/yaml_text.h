/// Trees as YAML.
#pragma once

#include <string>

#include "base/yaml/document.h"

namespace berth::cli {

/// YAML in block style with a line feed at its end; reading it gives the same values as the JSON. `indent` in spaces.
[[nodiscard]] std::string yaml_of(const yaml::Node& node, int indent = 0);

}  // namespace berth::cli
