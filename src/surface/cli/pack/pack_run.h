/// `berth pack`: from the files to the plan and the outputs that were requested.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/pack/pack_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Provisions (sim/study/provision.h), writes the report and returns the text for stdout. With --check it verifies the
/// plan of a file instead; the text says that it is accepted. Errors: kInvalidInput and kNotFound if the files are
/// wrong or the demand cannot be served; kUnavailable if a checked plan is refused, an output cannot be written, or a
/// verifier refuses the plan that was found (which is then not shown).
[[nodiscard]] Result<std::string> run_pack(const PackRequest& request, const VerbContext& context);

}  // namespace berth::cli
