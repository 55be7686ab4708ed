/// `berth apply` and `berth delete`.
#pragma once

#include <string>
#include <vector>

#include "surface/cli/client/connection.h"
#include "surface/cli/client/outcome.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct ApplyWords {
  ServerWords server;
  std::vector<std::string> files;  ///< "-": the standard input
};
struct DeleteWords {
  ServerWords server;
  std::string kind;
  std::string name;
  std::string tenant;
  std::vector<std::string> files;
};

/// Creates or replaces the objects of the files, tenants first, and prints a line for each: created, configured or
/// unchanged. Nothing is sent if anything in the files is wrong. If the server refuses one object, the others are still
/// sent; if it does not answer or refuses the key, the verb stops.
[[nodiscard]] VerbOutcome run_apply(const ApplyWords& words, const VerbContext& context);

/// Deletes an object, or those of the files, services first. Errors are handled as by `apply`.
[[nodiscard]] VerbOutcome run_delete(const DeleteWords& words, const VerbContext& context);

}  // namespace berth::cli
