/// `berth get --watch`: the objects, then each one that changes.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "surface/cli/client/client.h"
#include "surface/cli/client/kinds.h"
#include "surface/cli/client/objects_text.h"
#include "surface/cli/client/outcome.h"

namespace berth::cli {

struct WatchRequest {
  Selection selection;
  Output output = Output::kTable;
  std::vector<std::string> phases;
};

/// Asks the server each second and prints to `out`: in a table the row of each object that is new or changed in a cell
/// other than its age, in JSON each such object in one line, in YAML as a document, and a line for each one that is
/// gone (or no longer in the phases). Of events the new ones. Ends when it is interrupted, when `out` cannot be
/// written, or with the error of a request.
[[nodiscard]] VerbOutcome run_watch(const WatchRequest& request, const Client& client, std::FILE* out);

}  // namespace berth::cli
