/// `berth logs`: what the programs of a service wrote.
#pragma once

#include <string>

#include "surface/cli/client/connection.h"
#include "surface/cli/client/outcome.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

struct LogsWords {
  ServerWords server;
  std::string kind;  ///< service, or service/NAME, service/TENANT/NAME
  std::string name;
  std::string tenant;
};

/// The last lines of each of its programs, under the name of its slice.
[[nodiscard]] VerbOutcome run_logs(const LogsWords& words, const VerbContext& context);

}  // namespace berth::cli
