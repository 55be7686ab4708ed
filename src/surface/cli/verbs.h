/// The verbs of `berth`, each with its options, its help and its action. X_verb() is in X/X_verb.cc.
#pragma once

#include <vector>

#include "surface/cli/shared/command_line.h"

namespace berth::cli {

[[nodiscard]] Verb up_verb();
[[nodiscard]] Verb hands_verb();
[[nodiscard]] Verb operator_verb();
[[nodiscard]] Verb why_verb();
[[nodiscard]] Verb config_verb();
[[nodiscard]] Verb journal_verb();
[[nodiscard]] Verb replay_verb();
[[nodiscard]] Verb size_verb();
[[nodiscard]] Verb plan_verb();
[[nodiscard]] Verb forecast_verb();
[[nodiscard]] Verb mig_verb();
[[nodiscard]] Verb pack_verb();
[[nodiscard]] Verb price_verb();
[[nodiscard]] Verb advise_verb();
[[nodiscard]] Verb spot_verb();
[[nodiscard]] Verb commit_verb();
[[nodiscard]] Verb scale_verb();
[[nodiscard]] Verb case_verb();
[[nodiscard]] Verb place_verb();
[[nodiscard]] Verb schedule_verb();
[[nodiscard]] Verb serve_verb();
[[nodiscard]] Verb gateway_verb();
[[nodiscard]] Verb optimize_verb();
[[nodiscard]] Verb profile_verb();
[[nodiscard]] Verb tier_verb();
[[nodiscard]] Verb warm_verb();
[[nodiscard]] Verb xid_verb();
[[nodiscard]] Verb ledger_verb();
[[nodiscard]] Verb cost_verb();
[[nodiscard]] Verb invoice_verb();
[[nodiscard]] Verb export_verb();

/// The verbs that talk to a running `berth up`, and the subcommands of `plan` that do (client/client_verbs.cc).
[[nodiscard]] std::vector<Verb> client_verbs();
[[nodiscard]] std::vector<Verb> client_plan_subcommands();

}  // namespace berth::cli
