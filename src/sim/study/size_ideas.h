/// The GPUs that each feature of the planner saves: the fewest GPUs with features ("ideas") added one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/values/scenario.h"
#include "engine/policy/settings.h"
#include "sim/study/size.h"

namespace berth::study {

/// A step of the ladder: a policy with some of its features switched off.
struct Idea {
  std::string_view adds;                  ///< what the step adds to the previous one; unique
  std::string_view policy;                ///< one of policy::sizable_names()
  std::vector<std::string_view> without;  ///< parameters set to 0, as engine/policy/settings.h names them
};

/// The ladder, in this order; `variants` only if a service has some:
/// - `whole GPUs`: the policy `whole`, a whole GPU for each service.
/// - `slices`: one layout for the whole run, every slice at its default operating point.
/// - `operating points`: the same with points chosen by the latency target (planner/window/frame.h).
/// - `reconfiguration`: the layout changes during the run, at the cost of the changes.
/// - `variants`: variants of models too.
/// - `forecasts`: the same by forecasts alone, the policy `berth`.
/// All but the last know the arrivals beforehand, so that a step measures its feature and not a better guess; the last
/// one measures the cost of not knowing. The same planner makes all but the first.
[[nodiscard]] std::vector<Idea> ideas_of(const Scenario& scenario);

/// `base` with the parameters of `Idea::without` set to 0.
[[nodiscard]] policy::Settings settings_of(const Idea& idea, const policy::Settings& base);

/// The GPUs of the previous step minus those of this one: below 0 if the step needs more. Absent for the first step,
/// and if one of the two has no count. Requires: `step` < steps.size().
[[nodiscard]] std::optional<std::int64_t> gpus_saved(std::span<const IdeaSize> steps, std::size_t step);

}  // namespace berth::study
