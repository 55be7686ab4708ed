/// The subcommands of `berth tier`. X_subcommand() is in tier_X.cc.
#pragma once

#include "surface/cli/shared/command_line.h"

namespace berth::cli {

[[nodiscard]] Verb tier_predict_subcommand();
[[nodiscard]] Verb tier_train_subcommand();
[[nodiscard]] Verb tier_evaluate_subcommand();
[[nodiscard]] Verb tier_explain_subcommand();

}  // namespace berth::cli
