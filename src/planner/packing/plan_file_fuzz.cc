// The bytes as a plan file, with one GPU model and with two; also as the slices of a plan, so that the fuzzer reaches
// them at once. A plan that is read keeps the invariants of domain/values/packing.h.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/core/ensure.h"
#include "domain/mig/catalogue.h"
#include "planner/packing/plan_file.h"

namespace {

using namespace berth;

PackingProblem fuzzed_problem(std::size_t offer_count) {
  PackingProblem problem;
  for (const char* name : {"A30", "T4"}) {
    if (problem.offers.size() == offer_count) break;
    problem.offers.push_back({.model = mig::find_gpu_model(name).value(), .count_max = {}, .micro_usd_per_hour = {}});
  }
  problem.demands = {{"m", "m", Decimal(1), Decimal(1)}, {"m", "t", Decimal(1), Decimal(1)}};
  return problem;
}

void check(const std::string& text, const PackingProblem& problem) {
  const auto plan = packing::parse_plan(text, "fuzz", problem);
  if (!plan) return;
  ENSURE(plan->gpu_offers.size() <= packing::kPlanGpusMax);
  for (const std::uint32_t offer : plan->gpu_offers) ENSURE(offer < problem.offers.size());
  ENSURE(std::ranges::is_sorted(plan->slices, {}, &PackedSlice::slice));
  for (const PackedSlice& packed : plan->slices) {
    ENSURE(packed.slice.gpu.index < plan->gpu_offers.size() && packed.demand < problem.demands.size());
    const GpuModel& model = problem.offers[plan->gpu_offers[packed.slice.gpu.index]].model;
    ENSURE(packed.slice.profile.is_full() || packed.slice.profile.index < model.profiles.size());
    ENSURE(packed.batch >= 1 && packed.processes >= 1 && packed.requests_per_second.sign() >= 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const PackingProblem one = fuzzed_problem(1);
  static const PackingProblem two = fuzzed_problem(2);
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  check(text, one);
  check(text, two);
  check("{\"slices\":[" + text + "]}", one);
  return 0;
}
