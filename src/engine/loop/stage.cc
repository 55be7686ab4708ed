#include "engine/loop/stage.h"

#include <utility>
#include <vector>

namespace berth {

MakeStages ready_stages(std::vector<Stage> stages) {
  return [stages = std::move(stages)](const Scenario&) { return stages; };
}

Stage deciding_stage(std::string name, std::function<std::optional<std::string>(const Snapshot&, Plan&)> decide) {
  const auto ask = [decide = std::move(decide)](const Snapshot& snapshot, Plan& plan) -> StageAnswer {
    auto why = decide(snapshot, plan);
    if (why) return NoPlan{std::move(*why)};
    return Settled{};
  };
  return {.name = std::move(name), .observe = {}, .ask = ask, .learn = {}};
}

}  // namespace berth
