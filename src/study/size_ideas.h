/// What each idea of the planner saves: the fewest GPUs with ideas added one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/scenario.h"
#include "policy/settings.h"
#include "study/size.h"

namespace berth::study {

/// A step of the ladder: a policy with some of its ideas left out.
struct Idea {
  std::string_view adds;                  ///< to the step before; unique
  std::string_view policy;                ///< one of policy::sizable_names()
  std::vector<std::string_view> without;  ///< parameters set to 0, as policy/settings.h names them
};

/// The ladder, in this order; `variants` only where a service has some:
/// - `whole GPUs`: the policy `whole`, an uncut GPU for each service.
/// - `slices`: one layout for the whole run, every slice at its default operating point.
/// - `operating points`: the same with points chosen by the latency target (window/frame.h).
/// - `reconfiguration`: the layout changes while the run goes on, at the cost of the changes.
/// - `variants`: models in their other forms too.
/// - `forecasts`: the same by forecasts alone, the policy `berth`.
/// All but the last know the arrivals beforehand, so that a step shows its idea and not what was guessed better; the
/// last one tells what not knowing costs. One planner makes all of them but the first.
[[nodiscard]] std::vector<Idea> ideas_of(const Scenario& scenario);

/// `base` with the parameters of the idea at 0.
[[nodiscard]] policy::Settings settings_of(const Idea& idea, const policy::Settings& base);

/// GPUs of the step before less those of this one: below 0 where the step costs more. Absent for the first step, and
/// where one of the two has no count. Requires: `step` < steps.size().
[[nodiscard]] std::optional<std::int64_t> gpus_saved(std::span<const IdeaSize> steps, std::size_t step);

}  // namespace berth::study
