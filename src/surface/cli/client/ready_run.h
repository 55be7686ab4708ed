/// `berth ready`: whether a server answers, for probes in a container that has no other client.
#pragma once

#include "surface/cli/client/connection.h"
#include "surface/cli/client/outcome.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct ReadyWords {
  ServerWords server;
  bool is_live_enough = false;  ///< --live
};

/// "ready", or "live" if only that was asked. Errors: those of the client; a server that is not ready is kNoServer.
[[nodiscard]] VerbOutcome run_ready(const ReadyWords& words, const VerbContext& context);

}  // namespace berth::cli
