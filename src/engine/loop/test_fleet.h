/// Two A100-80GB and two services, for the engine's tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "domain/mig/catalogue.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "engine/loop/engine.h"

namespace berth::testing {

inline Scenario two_gpus() {
  Scenario scenario;
  scenario.fleet = {{.model = *mig::find_gpu_model("A100-80GB"), .count = 2, .usd_per_gpu_hour = {}}};
  for (const char* name : {"a", "b"}) {
    ServiceSpec service;
    service.name = service.tenant = name;
    service.target = Micros(100'000);
    service.target_ms = Decimal(100);
    service.arrivals.seconds = 60;
    for (const char* profile : {"1g.10gb", "2g.20gb", "3g.40gb"}) {
      const std::int64_t size = profile[0] - '0';
      service.table.points.push_back({.gpu = "A100-80GB",
                                      .profile = profile,
                                      .batch = 1,
                                      .processes = 1,
                                      .requests_per_second = Decimal(100 * size),
                                      .latency_ms = Decimal(10, size)});
    }
    scenario.services.push_back(service);
  }
  return scenario;
}

inline Slice slice_at(std::uint32_t gpu, std::string_view profile, int start) {
  const GpuModel model = *mig::find_gpu_model("A100-80GB");
  return {.gpu = {gpu}, .start = start, .profile = *mig::find_profile(model, profile)};
}

inline Holding held(const Slice& slice, std::vector<ServiceId> services, Role role = Role::kInference) {
  return {.slice = slice, .role = role, .services = std::move(services)};
}

inline Action create(const Slice& slice) { return {.what = CreateSlice{slice}, .reason = {}}; }
inline Action destroy(const Slice& slice) { return {.what = DestroySlice{slice}, .reason = {}}; }
inline Action give(Holding holding) {
  return {.what = AssignSlice{.holding = std::move(holding), .point = {}}, .reason = {}};
}

/// One stage alone: it observes, is asked, its question is solved, and it learns the solution. Adds to `plan`; returns
/// why no plan can exist.
inline std::optional<std::string> decide(const Stage& stage, const Snapshot& snapshot, Plan& plan) {
  if (stage.observe) stage.observe(snapshot);
  StageAnswer asked = stage.ask(snapshot, plan);
  if (const auto* none = std::get_if<NoPlan>(&asked)) return none->why;
  Solution solution;
  solution.plan = plan;
  if (const auto* solve = std::get_if<Solve>(&asked)) (*solve)(snapshot, solution);
  if (stage.learn) stage.learn(solution);
  plan = solution.plan;
  return solution.infeasible;
}

/// The event that answers a request.
inline Event answer_to(const SolveRequest& request, Instant at) {
  return {.at = at,
          .what = SolveFinished{.question = request.question,
                                .solution = std::make_shared<const Solution>(request.solve())}};
}

/// A step whose question, if any, is answered at that instant.
inline StepAnswer step_and_solve(Engine& engine, Instant now) {
  StepAnswer asked = engine.step(now);
  if (!asked.request) return asked;
  engine.observe(answer_to(*asked.request, now));
  return engine.step(now);
}

}  // namespace berth::testing
