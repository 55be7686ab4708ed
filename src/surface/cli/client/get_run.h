/// `berth get`, `berth describe` and `berth plan show|history`: objects as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

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
  std::vector<std::string> phases = {};
  bool is_watched = false;
  bool has_all_tenants = false;  ///< the default, stated
};

/// All objects of a kind, or the named one; of kind `all`, those of every kind but faults and events. If watched, then
/// what changes, until it is interrupted or the server does not answer.
[[nodiscard]] VerbOutcome run_get(const GetWords& words, const VerbContext& context);
/// One object with its related ones, by kind and name, KIND/NAME, or its name alone; `json`, `yaml` and `name` as in
/// `get`.
[[nodiscard]] VerbOutcome run_describe(const GetWords& words, const VerbContext& context);

}  // namespace berth::cli
