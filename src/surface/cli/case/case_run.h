/// Runs `berth case`.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/case/case_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The text for stdout. The files of --journal and the page of --report appear complete or not at all.
[[nodiscard]] Result<std::string> run_case_verb(const CaseRequest& request, const VerbContext& context);

}  // namespace berth::cli
