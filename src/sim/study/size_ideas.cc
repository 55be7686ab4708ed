#include "sim/study/size_ideas.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::study {

std::vector<Idea> ideas_of(const Scenario& scenario) {
  const bool has_variants =
      std::ranges::any_of(scenario.services, [](const ServiceSpec& service) { return !service.variants.empty(); });
  std::vector<Idea> ideas = {
      {.adds = "whole GPUs", .policy = "whole", .without = {}},
      {.adds = "slices", .policy = "clairvoyant", .without = {"berth.recuts", "berth.points", "berth.variants"}},
      {.adds = "operating points", .policy = "clairvoyant", .without = {"berth.recuts", "berth.variants"}},
      {.adds = "reconfiguration", .policy = "clairvoyant", .without = {"berth.variants"}},
      {.adds = "variants", .policy = "clairvoyant", .without = {}},
      {.adds = "forecasts", .policy = "berth", .without = {}},
  };
  if (has_variants) return ideas;
  std::erase_if(ideas, [](const Idea& idea) { return idea.adds == "variants"; });
  for (Idea& idea : ideas) std::erase(idea.without, "berth.variants");
  return ideas;
}

policy::Settings settings_of(const Idea& idea, const policy::Settings& base) {
  policy::Settings settings = base;
  for (const std::string_view name : idea.without) {
    const Result<void> set = policy::set_parameter(settings, fmt::format("{}=0", name));
    ENSURE(set.has_value());
  }
  return settings;
}

std::optional<std::int64_t> gpus_saved(std::span<const IdeaSize> steps, std::size_t step) {
  ENSURE(step < steps.size());
  if (step == 0 || !steps[step].size.gpus || !steps[step - 1].size.gpus) return std::nullopt;
  return *steps[step - 1].size.gpus - *steps[step].size.gpus;
}

}  // namespace berth::study
