/// Runs of policies by name, shared by tests.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/measure/testing/runs.h"
#include "sim/study/replay.h"

namespace berth::study::testing {

using namespace measure::testing;  // NOLINT(google-build-using-namespace): one vocabulary for the tests' scenarios

/// How fast a service is on each plain profile.
inline std::vector<Row> speeds() {
  return {{.profile = "1g.10gb", .latency_ms = 10},
          {.profile = "2g.20gb", .latency_ms = 5},
          {.profile = "3g.40gb", .batch = 2, .latency_ms = 7},
          {.profile = "4g.40gb", .batch = 2, .latency_ms = 5},
          {.profile = "7g.80gb", .batch = 4, .latency_ms = 6}};
}

/// Runs a policy by its name, with its journal.
inline Ran run_policy(const Scenario& scenario, std::string_view policy, std::uint64_t seed = 1) {
  Ran ran;
  const ReplayHooks hooks{.progress = {}, .journal = [&](std::string_view, const sim::JournalRecord& record) {
                            ran.journal.push_back(record);
                          }};
  ran.result = *replay_policy(scenario, policy, seed, hooks);
  return ran;
}

}  // namespace berth::study::testing
