/// Objects in the formats of `--output`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml/document.h"
#include "surface/cli/client/kinds.h"
#include "surface/cli/client/outcome.h"
#include "surface/cli/client/tables.h"

namespace berth::cli {

enum class Output : std::uint8_t { kTable, kWide, kJson, kYaml, kName };

/// Error: kBadInput with the known words.
[[nodiscard]] ClientResult<Output> parse_output(std::string_view word);
/// Whether people read it: a table.
[[nodiscard]] inline bool is_table(Output output) { return output == Output::kTable || output == Output::kWide; }

/// Objects of one kind; `is_one`: as a single object instead of a list. `now`: as in TableView.
[[nodiscard]] std::string objects_text(Output output, Kind kind, std::vector<yaml::Node> objects, bool is_one,
                                       const std::optional<std::string>& now);
/// A list in the API's form, with all its items.
[[nodiscard]] yaml::Node list_node(std::vector<yaml::Node> objects);

}  // namespace berth::cli
