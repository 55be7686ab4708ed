/// From the request of `berth export` to its file.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/export/export_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Writes the file; the text says what it contains.
[[nodiscard]] Result<std::string> run_export_focus(const ExportRequest& request, const VerbContext& context);
[[nodiscard]] Result<std::string> run_export_opencost(const ExportRequest& request, const VerbContext& context);

}  // namespace berth::cli
