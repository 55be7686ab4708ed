/// One object as text of several lines.
#pragma once

#include <string>
#include <vector>

#include "base/yaml/document.h"
#include "surface/cli/client/kinds.h"
#include "surface/cli/client/tables.h"

namespace berth::cli {

/// Name, version and labels, the whole status (unknown figures as "unknown"), the spec without long lists of rows. For
/// a plan: its actions as a table with phase and reason.
[[nodiscard]] std::string describe_text(Kind kind, const yaml::Node& object);

/// The related objects of an object, as a part of its text: "Slices:" and a table.
[[nodiscard]] std::string related_text(Kind kind, const std::vector<yaml::Node>& objects, const TableView& view);

}  // namespace berth::cli
