#include "surface/cli/pack_run.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "packing/find_fault.h"
#include "surface/cli/interrupt.h"
#include "surface/cli/pack_answer.h"
#include "surface/cli/pack_cure.h"
#include "surface/cli/pack_from.h"
#include "surface/cli/pack_json.h"
#include "surface/cli/pack_plan_file.h"
#include "surface/cli/pack_problem.h"
#include "surface/cli/pack_table.h"
#include "surface/cli/report_folder.h"
#include "transition/transition.h"

namespace berth::cli {
namespace {

/// The verdict on the plan of a file.
Result<std::string> judged(const std::string& path, const PackingProblem& problem, const Files& files) {
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  const auto packing = parse_plan(*text, path, problem);
  if (!packing) return pass_on(packing.error());
  if (const auto fault = packing::find_fault(problem, *packing)) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: refused: {}", path, *fault));
  }
  return fmt::format("{}: accepted: {} GPUs, {} slices\n", path, packing->gpu_offers.size(), packing->slices.size());
}

Error in_file(const std::string& path, const Error& error) { return {error.code, path + ": " + error.message}; }

Error own_mistake(std::string_view what, const std::string& fault) {
  return {ErrorCode::kUnavailable, fmt::format("the verifier refuses {}, so it is not shown: {}. This is a defect of "
                                               "the program: please report it with the files",
                                               what, fault)};
}

/// Finds a plan that the verifier accepts.
Result<packing::PackResult> verified_plan(const PackRequest& request, const PackingProblem& problem) {
  auto result = packing::pack(problem, request.search);
  if (!result) return result;
  if (const auto fault = packing::find_fault(problem, result->packing)) {
    return pass_on(own_mistake("the plan that was found", *fault));
  }
  return result;
}

/// The transition from the standing plan; its target replaces the plan in `result`.
Result<transition::Transition> verified_transition(const PackRequest& request, const PackingProblem& problem,
                                                   const transition::StandingPlan& standing,
                                                   packing::PackResult& result) {
  auto transition = transition::plan_transition(problem, standing, result, request.search);
  if (!transition) return pass_on(in_file(*request.from_path, transition.error()));
  if (const auto fault = packing::find_fault(problem, transition->target)) {
    return pass_on(own_mistake("the plan that was found", *fault));
  }
  if (const auto fault = transition::find_step_fault(problem, standing, *transition)) {
    return pass_on(own_mistake("the steps that were found", *fault));
  }
  result.packing = transition->target;
  result.score = packing::score_of(problem, result.packing);
  result.unused = packing::empty_places(problem, result.packing);
  // With a standing plan, few changes take precedence over the largest free slice.
  result.is_largest_free_proven = result.is_slice_count_proven = false;
  return transition;
}

study::PackingReplayOptions replay_options(const PackRequest& request) {
  study::PackingReplayOptions options;
  options.seeds = {request.seed, request.seed + 1, request.seed + 2};
  return options;
}

std::optional<study::PackingReplay> replayed(const PackRequest& request, const PackingProblem& problem,
                                             const Packing& packing) {
  if (!request.is_verifying) return std::nullopt;
  return study::replay_packing(problem, packing, replay_options(request));
}

Result<void> report_written(const PackRequest& request, const PackSurroundings& surroundings,
                            const PackAnswer& answer) {
  if (!request.report_dir) return {};
  ReportFolder folder;
  if (auto made = folder.make(*request.report_dir); !made) return made;
  return folder.write_page(surroundings.render_report(answer.problem, answer.result, answer.replay));
}

}  // namespace

Result<std::string> run_pack(const PackRequest& request, const PackSurroundings& surroundings) {
  const InterruptWatch interrupt;  // ends the program with its own status; nothing is written before the end
  auto problem = load_packing_problem(request, surroundings.files);
  if (!problem) return pass_on(problem.error());
  if (request.check_path) return judged(*request.check_path, *problem, surroundings.files);
  std::optional<transition::StandingPlan> standing;
  if (request.from_path) {
    auto loaded = load_standing_plan(*request.from_path, surroundings.files, *problem);
    if (!loaded) return pass_on(loaded.error());
    standing = std::move(*loaded);
  }
  auto result = verified_plan(request, *problem);
  if (!result) return pass_on(result.error());
  std::optional<transition::Transition> transition;
  if (standing) {
    auto planned = verified_transition(request, *problem, *standing, *result);
    if (!planned) return pass_on(planned.error());
    transition = std::move(*planned);
  }
  const auto replay = replayed(request, *problem, result->packing);
  const auto cure =
      request.is_curing ? find_pack_cure(request, *problem, replay_options(request)) : std::optional<PackCure>();
  const PackAnswer answer{.problem = *problem,
                          .result = *result,
                          .replay = replay ? &*replay : nullptr,
                          .cure = cure ? &*cure : nullptr,
                          .transition = transition ? &*transition : nullptr};
  std::string text = request.format == OutputFormat::kJson ? pack_json(answer) : pack_table(answer);
  if (const auto written = report_written(request, surroundings, answer); !written) return pass_on(written.error());
  return text;
}

}  // namespace berth::cli
