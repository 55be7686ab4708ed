/// `berth pack`: from the files to the plan and the requested outputs.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "domain/packing.h"
#include "packing/pack.h"
#include "ports/files.h"
#include "study/packing_replay.h"
#include "surface/cli/pack_options.h"

namespace berth::cli {

/// Draws the page of --report; the replay may be absent.
using PackReportRenderer =
    std::function<std::string(const PackingProblem&, const packing::PackResult&, const study::PackingReplay*)>;

/// The environment of the verb.
struct PackSurroundings {
  const Files& files;
  PackReportRenderer render_report;  ///< needed for --report only
};

/// Packs, verifies the plan, replays it on request, writes the report and returns the text for stdout. With --check it
/// verifies the plan of a file instead, and the text says that it is accepted. Errors: kInvalidInput and kNotFound if
/// the files are wrong or the demand cannot be served; kUnavailable if a checked plan is refused, an output cannot be
/// written, or the verifier refuses the plan that was found (which is then not shown).
[[nodiscard]] Result<std::string> run_pack(const PackRequest& request, const PackSurroundings& surroundings);

}  // namespace berth::cli
