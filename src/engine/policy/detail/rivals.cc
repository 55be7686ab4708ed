#include "engine/policy/detail/rivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/core/archive.h"
#include "engine/loop/moving_layout.h"
#include "engine/rivals/astraea.h"
#include "engine/rivals/ekya.h"
#include "engine/rivals/ignored_constraints.h"
#include "engine/rivals/migrator.h"

namespace berth::policy::detail {
namespace {

/// A policy whose `rival` decides in every step; the rival keeps state between steps.
template <typename Rival>
MadePolicy made_of(const Inputs& inputs, const char* name, const std::shared_ptr<Rival>& rival) {
  MadePolicy made;
  made.stages.push_back(moving_layout_stage(
      inputs.scenario, name,
      {.decide = [rival](const partition::Sight& sight) { return rival->decide(sight); }, .memory = memory_of(rival)}));
  made.ignored_constraints = [&scenario = inputs.scenario] {
    return partition::constraints_ignored_while_moving(scenario);
  };
  return made;
}

/// A summary of the integer programs that `migrator` has solved.
std::string solved_text(const partition::Migrator::ProgramStatistics& solved) {
  const std::int64_t with_plan = solved.count - solved.unsolved_count;
  return fmt::format(
      "{} integer programs: {} solved within the gap allowed, {} without a solution; gap {:.2f} % on average, {:.2f} % "
      "at most",
      solved.count, solved.within_count, solved.unsolved_count,
      100 * solved.gap_sum / static_cast<double>(std::max<std::int64_t>(1, with_plan)), 100 * solved.gap_max);
}

}  // namespace

MadePolicy make_ekya(const Inputs& inputs) {
  return made_of(inputs, "ekya", std::make_shared<partition::Ekya>(inputs.scenario, inputs.settings.ekya));
}

MadePolicy make_astraea(const Inputs& inputs) {
  return made_of(inputs, "astraea", std::make_shared<partition::Astraea>(inputs.scenario, inputs.settings.astraea));
}

MadePolicy make_migrator(const Inputs& inputs) {
  const auto migrator = std::make_shared<partition::Migrator>(inputs.scenario, inputs.settings.migrator);
  MadePolicy made = made_of(inputs, "migrator", migrator);
  made.how = [migrator] { return solved_text(migrator->solved()); };
  return made;
}

}  // namespace berth::policy::detail
