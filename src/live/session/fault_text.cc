#include "live/session/fault_text.h"

#include <fmt/format.h>

#include "live/session/object_names.h"
#include "live/session/session.h"

namespace berth::live {

std::string_view fault_word(sim::FaultKind kind) {
  constexpr std::string_view kWords[] = {"lose", "return",          "fail_create",   "fail_destroy",
                                         "slow", "reports_failure", "foreign_slice", "clear"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string fault_name(std::uint64_t id) { return fmt::format("fault-{}", id); }

std::string fault_text(const Scenario& scenario, const sim::FaultOrder& order) {
  if (order.gpus.empty()) return fmt::format("{} of a fleet without GPUs", fault_word(order.kind));  // of old journals
  std::string text = fmt::format("{} on {}", fault_word(order.kind), gpu_name(order.gpus.front()));
  if (order.gpus.size() > 1) text += fmt::format(" to {}", gpu_name(order.gpus.back()));
  if (order.kind == sim::FaultKind::kForeignSlice) {
    text += fmt::format(": {}@{}", profile_name(scenario.model_of(order.gpus.front()), order.profile), order.start);
  }
  if (order.kind == sim::FaultKind::kSlow) text += fmt::format(", each takes {} s", order.duration.to_seconds());
  if (order.times) text += fmt::format(", {} {} each", *order.times, *order.times == 1 ? "action" : "actions");
  return text;
}

}  // namespace berth::live
