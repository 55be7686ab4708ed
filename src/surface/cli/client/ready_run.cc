#include "surface/cli/client/ready_run.h"

#include <string>

#include "surface/cli/client/client.h"

namespace berth::cli {

VerbOutcome run_ready(const ReadyWords& words, const VerbContext& context) {
  const auto client = connect(words.server, context);
  if (!client) return outcome_of(client_fail(client.error()));
  const auto reply = client->get(words.is_live_enough ? "/healthz" : "/readyz");
  if (!reply) return outcome_of(client_fail(reply.error()));
  return outcome_of(std::string(words.is_live_enough ? "live\n" : "ready\n"));
}

}  // namespace berth::cli
