/// For tests: answers of `berth size` with every kind of figure, present and absent. Made by hand.
#pragma once

#include "sim/study/size.h"
#include "surface/cli/replay/sample_result.h"

namespace berth::cli::sample {

[[nodiscard]] inline study::SeedTrial trial(std::int64_t in_time, std::int64_t requests, bool holds) {
  return {.holds = holds,
          .infeasible = std::nullopt,
          .worst = study::ServiceAttainment{.service = "s", .in_time = in_time, .requests = requests}};
}

/// A reference that is not proven, a better policy that needs fewer with one seed, and one that no count satisfies.
[[nodiscard]] inline study::SizeResult sizes() {
  study::PolicySize shared;
  shared.name = "shared";
  shared.gpus = 4;
  shared.is_smallest_proven = false;
  shared.gpus_by_seed = {std::nullopt, std::nullopt};
  shared.is_stable = std::nullopt;
  shared.cost_micro_usd = 9'794'668;
  shared.at_answer.emplace();
  shared.at_answer->figures = figures();
  shared.at_answer->how = "MPS";
  shared.tried = {{.gpus = 3, .holds = false, .seeds = {trial(989'999, 1'000'000, false)}},
                  {.gpus = 4, .holds = true, .seeds = {trial(995, 1000, true), trial(99, 100, true)}}};

  study::PolicySize whole = shared;
  whole.name = "whole";
  whole.is_hindsight = true;
  whole.gpus = 3;
  whole.is_smallest_proven = true;
  whole.gpus_by_seed = {2, 3};
  whole.is_stable = false;
  whole.cost_micro_usd.reset();
  whole.at_answer->figures.utilisation = {.allocated = 1, .busy = 0.8, .effective = 0.75};
  whole.at_answer->how.clear();
  whole.at_answer->ignores = {{"s", ConstraintKind::kFloor}};
  whole.at_answer->notes = {"SM counts of 3g.40gb are estimated"};
  whole.tried = {
      {.gpus = 1, .holds = false, .seeds = {{.holds = false, .infeasible = "needs 2 GPUs", .worst = std::nullopt}}},
      {.gpus = 2, .holds = false, .seeds = {trial(99, 100, true), trial(1, 2, false)}},
      {.gpus = 3,
       .holds = true,
       .seeds = {{.holds = true, .infeasible = std::nullopt, .worst = std::nullopt}, trial(1, 1, true)}}};

  study::PolicySize paris;
  paris.name = "paris";
  paris.infeasible =
      "no count up to 4 GPUs reaches the target for every service; best: 50.00% of s in time, with 4 GPUs";
  paris.is_smallest_proven = true;
  paris.tried = {{.gpus = 4, .holds = false, .seeds = {trial(1, 2, false)}}};

  return {.scenario = "dir/scenario.yaml",
          .gpu_model = "A100-80GB",
          .simulated_seconds = 1200,
          .options = {.attainment = Decimal(99, 100), .gpus_max = 4, .seeds = {1, 2}},
          .usd_per_gpu_hour = std::nullopt,
          .policies = {shared, whole, paris},
          .ideas = {}};
}

}  // namespace berth::cli::sample
