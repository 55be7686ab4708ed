#include "apps/serve/demo_savings.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace berth::serve {
namespace {

using serving::EvictionRule;
using serving::RunFigures;

struct Contestant {
  std::string_view name;
  serving::DispatchPolicy policy = {};
  EvictionRule eviction = EvictionRule::kLru;
};

constexpr std::array<Contestant, 3> kContestants = {{
    {.name = "berth", .eviction = EvictionRule::kValue},
    {.name = "berth, evict lru"},
    {.name = "eager", .policy = {.rival = serving::RivalKind::kEager}},
}};

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string row_of(const Contestant& contestant, const RunFigures& run, int lanes) {
  const auto answers = static_cast<double>(run.total.in_time + run.total.late);
  return fmt::format("{:<18}{:>9.1f} %{:>12.1f} %{:>17.1f}{:>8}{:>12.1f} s\n", contestant.name,
                     share_of(run.total.in_time, run.total.requests),
                     share_of(run.total.busy.count(), run.end.micros() * lanes),
                     run.total.batches == 0 ? 0 : answers / static_cast<double>(run.total.batches), run.loads,
                     run.load_time.to_seconds());
}

/// "12.3 % less" of `other`.
std::string change_text(Micros mine, Micros other) {
  const double change = share_of(mine.count() - other.count(), other.count());
  return fmt::format("{:.1f} % {}", std::abs(change), change > 0 ? "more" : "less");
}

}  // namespace

std::string savings_text(const serving::ServingCase& serving_case) {
  std::string text = fmt::format("{:<18}{:>11}{:>14}{:>17}{:>8}{:>14}\n", "policy", "in time", "lanes busy",
                                 "rows in a batch", "loads", "load time");
  std::vector<RunFigures> runs;
  for (const Contestant& contestant : kContestants) {
    runs.push_back(serving::run_case(serving_case, contestant.policy, contestant.eviction, nullptr));
    text += row_of(contestant, runs.back(), serving_case.device.lanes);
  }
  const RunFigures& berth = runs[0];
  const std::int64_t more_in_time = berth.total.in_time - runs[2].total.in_time;
  text +=
      fmt::format("\nberth compared with eager: {} requests {} in time, {} lane time, {} time for loads\n",
                  std::abs(more_in_time), more_in_time < 0 ? "fewer" : "more",
                  change_text(berth.total.busy, runs[2].total.busy), change_text(berth.load_time, runs[2].load_time));
  text +=
      fmt::format("berth compared with lru:   {} time for loads\n", change_text(berth.load_time, runs[1].load_time));
  return text;
}

}  // namespace berth::serve
