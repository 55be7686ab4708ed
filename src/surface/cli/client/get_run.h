/// `berth get`, `berth describe` and `berth plan show|history`: objects as text.
#pragma once

#include <optional>
#include <string>

#include "surface/cli/client/connection.h"
#include "surface/cli/client/outcome.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct GetWords {
  ServerWords server;
  std::string kind;
  std::string name;
  std::string tenant;
  std::string output = "table";  ///< table, wide, json, yaml or name
};

/// All objects of a kind, or the named one.
[[nodiscard]] VerbOutcome run_get(const GetWords& words, const VerbContext& context);
/// One object with its related ones; `json`, `yaml` and `name` as in `get`.
[[nodiscard]] VerbOutcome run_describe(const GetWords& words, const VerbContext& context);

}  // namespace berth::cli
