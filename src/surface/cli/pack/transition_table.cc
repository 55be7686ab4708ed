#include "surface/cli/pack/transition_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "domain/values/gpu_name.h"
#include "domain/values/scenario.h"
#include "surface/cli/mig/mig_text.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using transition::Transition;
using transition::TransitionGpu;
using transition::TransitionStep;

std::string slices_word(std::int64_t count) { return fmt::format("{} slice{}", count, count == 1 ? "" : "s"); }

std::string change_text(const Transition& transition) {
  std::string text = fmt::format("{} stay, {} created, {} destroyed", slices_word(transition.kept), transition.created,
                                 transition.destroyed);
  if (transition.retuned > 0) text += fmt::format(", {} of those that stay retuned", transition.retuned);
  text += transition.is_fewest_proven
              ? "; proven: no such plan changes fewer"
              : fmt::format("; not proven to be the fewest: at least {} are needed", transition.changes_bound);
  return text;
}

/// The guarantee during the transition, and what it costs.
std::string way_text(const Transition& transition) {
  std::string text = "At no step does a demand fall below its new rate, or below its previous one if that is less";
  if (transition.temporary > 0) text += fmt::format("; {} only temporarily", slices_word(transition.temporary));
  if (transition.spare_gpus > 0) {
    text += fmt::format("; {} more GPU{} needed temporarily", transition.spare_gpus,
                        transition.spare_gpus == 1 ? " is" : "s are");
  }
  return text + ".";
}

std::string names_text(std::string_view what, const std::vector<std::string>& gpus) {
  return gpus.empty() ? "" : fmt::format("GPUs {}: {}. ", what, fmt::join(gpus, ", "));
}

std::string gpus_that_change(const Transition& transition) {
  std::vector<std::string> added;
  std::vector<std::string> released;
  std::vector<std::string> spare;
  std::vector<std::string> renumbered;
  for (std::uint32_t i = 0; i < transition.gpus.size(); ++i) {
    const TransitionGpu& gpu = transition.gpus[i];
    if (gpu.standing && !gpu.target) released.push_back(gpu_name({i}));
    if (!gpu.standing && gpu.target) added.push_back(gpu_name({i}));
    if (!gpu.standing && !gpu.target) spare.push_back(gpu_name({i}));
    if (gpu.target && *gpu.target != i)
      renumbered.push_back(fmt::format("{} is {}", gpu_name({i}), gpu_name({*gpu.target})));
  }
  std::string text = names_text("added", added) + names_text("released", released) + names_text("temporary", spare);
  if (!renumbered.empty()) text += fmt::format("In the new plan {}.", fmt::join(renumbered, ", "));
  return text;
}

std::vector<std::string> step_cells(const PackingProblem& problem, const Transition& transition, std::size_t index) {
  const TransitionStep& step = transition.steps[index];
  const Slice& slice = step.slice.slice;
  const GpuModel& model = problem.offers[transition.gpus[slice.gpu.index].offer].model;
  const Demand& demand = demand_of(problem, transition, step);
  const std::string name = demand.tenant == demand.model ? demand.model : demand.tenant + "/" + demand.model;
  return {fmt::format("{}", index + 1), std::string(word_of(step.kind)), gpu_name(slice.gpu),
          fmt::format("{}@{}", profile_name(model, slice.profile), slice.start),
          fmt::format("{} {}x{}{}", wrapped(name, std::string::npos - 1), step.slice.batch, step.slice.processes,
                      step.is_temporary ? " (temporary)" : "")};
}

}  // namespace

std::string transition_table(const PackingProblem& problem, const Transition& transition) {
  std::string text = wrapped(change_text(transition)) + "\n";
  if (transition.steps.empty()) return text + "Nothing has to change.\n";
  text += wrapped(way_text(transition)) + "\n";
  const std::string gpus = gpus_that_change(transition);
  if (!gpus.empty()) text += wrapped(gpus) + "\n";
  std::vector<std::vector<std::string>> rows = {{"step", "what", "GPU", "slice", "model batch x processes"}};
  rows.reserve(transition.steps.size() + 1);
  for (std::size_t i = 0; i < transition.steps.size(); ++i) rows.push_back(step_cells(problem, transition, i));
  text += "\n";
  for (const std::string& line : aligned(rows)) text += line + "\n";
  return text;
}

}  // namespace berth::cli
