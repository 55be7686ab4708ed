/// For tests: a result of a replay with every kind of figure, present and absent. Made by hand, so that a golden text
/// can be checked against it by eye.
#pragma once

#include "sim/study/replay.h"

namespace berth::cli::sample {

[[nodiscard]] inline measure::Figures figures() {
  measure::Figures figures;
  figures.requests = 1'234'567;
  figures.in_time = 1'111'111;
  figures.late = 100'000;
  figures.dropped = 23'000;
  figures.unfinished = 456;
  figures.goodput = 0.75;
  figures.goodput_mean_of_services = 0.7;
  figures.goodput_worst_service = 0.1;
  figures.slo_attainment = 0.9;
  figures.mean_accuracy = 0.8333333333333334;
  figures.gpu_seconds = 2400;
  figures.gpu_seconds_fleet = 2400;
  figures.cost_micro_usd = 2'448'667;
  figures.cost_micro_usd_per_million_in_time = 2'203'800;
  figures.utilisation = {.allocated = 1, .busy = 0.625, .effective = 0.5};
  figures.changes = 4;
  figures.lost_slice_seconds = 12.5;
  figures.latency_mean_ms = 31.25;
  figures.latency_p50_ms = 12.345;
  figures.latency_p99_ms = 180.5;
  return figures;
}

/// A policy that ran, one that had no requests and no price, and one that cannot run.
[[nodiscard]] inline study::ReplayResult result() {
  measure::PolicyResult shared;
  shared.name = "shared";
  shared.how = "MPS";
  shared.ignores = {{"s", ConstraintKind::kPins}, {"s", ConstraintKind::kFloor}};
  shared.figures = figures();
  shared.services = {{.name = "say \"hi\"", .figures = figures()}};
  shared.wall_seconds = 0.25;

  measure::PolicyResult empty;
  empty.name = "static-best";
  empty.is_hindsight = true;
  empty.ignores = {{"s", ConstraintKind::kPins}, {"s", ConstraintKind::kFloor}};
  empty.notes = {"SM counts of 3g.40gb are estimated"};
  empty.figures.gpu_seconds_fleet = 2400;

  measure::PolicyResult whole;
  whole.name = "whole";
  whole.is_hindsight = true;
  whole.infeasible = "wanted 4 GPUs, one for each service; the fleet has 2";

  return {.scenario = "dir/scenario.yaml",
          .seed = 7,
          .simulated_seconds = 1200,
          .cost_micro_usd_fleet = 2'448'667,
          .bound = {.any = {.goodput = 0.97, .goodput_mean_of_services = 0.96},
                    .without_sharing = {.goodput = 0.91, .goodput_mean_of_services = 0.9}},
          .policies = {shared, empty, whole}};
}

}  // namespace berth::cli::sample
