#include "surface/cli/pack/pack_run.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "planner/packing/find_fault.h"
#include "planner/packing/plan_file.h"
#include "planner/transition/standing_plan.h"
#include "sim/study/provision.h"
#include "surface/cli/pack/pack_answer.h"
#include "surface/cli/pack/pack_json.h"
#include "surface/cli/pack/pack_problem.h"
#include "surface/cli/pack/pack_table.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/pages/pack_report.h"

namespace berth::cli {
namespace {

/// Verifies the plan of a file.
Result<std::string> judged(const std::string& path, const PackingProblem& problem, const Files& files) {
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  const auto packing = packing::parse_plan(*text, path, problem);
  if (!packing) return pass_on(packing.error());
  if (const auto fault = packing::find_fault(problem, *packing)) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: refused: {}", path, *fault));
  }
  return fmt::format("{}: accepted: {} GPUs, {} slices\n", path, packing->gpu_offers.size(), packing->slices.size());
}

/// The files that a plan must fit.
std::string inputs_of(const PackRequest& request) {
  const std::string fleet = request.fleet_path ? ", " + *request.fleet_path : "";
  return request.demand_path + ", " + request.profiles_path + fleet;
}

study::ProvisionOptions provision_options(const PackRequest& request) {
  return {.search = request.search,
          .replay = {.seeds = {request.seed, request.seed + 1, request.seed + 2}},
          .is_replayed = request.is_verifying,
          .is_cured = request.is_curing,
          .inputs = inputs_of(request)};
}

/// The plan of --from. Its GPU models join the problem's offers.
Result<std::optional<study::Standing>> standing_plan(const PackRequest& request, const Files& files,
                                                     PackingProblem& problem) {
  if (!request.from_path) return std::nullopt;
  const auto text = files.read(*request.from_path);
  if (!text) return pass_on(text.error());
  auto plan = transition::parse_standing_plan(*text, *request.from_path, problem);
  if (!plan) return pass_on(plan.error());
  return study::Standing{.plan = std::move(*plan), .name = *request.from_path};
}

}  // namespace

Result<std::string> run_pack(const PackRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  auto loaded = load_packing_problem(request, *context.files);
  if (!loaded) return pass_on(loaded.error());
  print_warnings(loaded->warnings, context.err);
  PackingProblem& problem = loaded->value;
  if (request.check_path) return judged(*request.check_path, problem, *context.files);
  const auto standing = standing_plan(request, *context.files, problem);
  if (!standing) return pass_on(standing.error());
  const auto provision = study::provision(problem, *standing, provision_options(request));
  if (!provision) return pass_on(provision.error());
  const PackAnswer answer{.problem = problem,
                          .result = provision->result,
                          .replay = provision->replay ? &*provision->replay : nullptr,
                          .cure = provision->cure ? &*provision->cure : nullptr,
                          .transition = provision->transition ? &*provision->transition : nullptr};
  outputs.begin();  // the search cannot be stopped
  if (auto opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  return outputs.finish(
      {.text = [&] { return request.format == OutputFormat::kJson ? pack_json(answer) : pack_table(answer); },
       .page = [&] { return report::render_pack_report(answer.problem, answer.result, answer.replay); }});
}

}  // namespace berth::cli
