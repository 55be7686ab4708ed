#include "live/session/fault_text.h"

#include <fmt/format.h>

#include "live/session/object_names.h"
#include "live/session/session.h"

namespace berth::live {

namespace {

/// Of a fault that concerns no GPU.
std::string serving_text(const Scenario& scenario, const sim::FaultOrder& order) {
  const sim::ServingFault& serving = *order.serving;
  const std::string word(fault_word(order.kind));
  if (!serving.service || serving.service->index >= scenario.services.size()) return word + " of every service";
  const ServiceSpec& spec = scenario.services[serving.service->index];
  const std::string of = fmt::format("{} of {}/{}", word, spec.tenant, spec.name);
  if (order.kind == sim::FaultKind::kClear) return of;
  const std::string jitter =
      serving.jitter.sign() > 0 ? fmt::format(", {} more or less", serving.jitter.to_string()) : "";
  return fmt::format("{}: batches take {} x the table's time{}", of, serving.factor.to_string(), jitter);
}

}  // namespace

std::string_view fault_word(sim::FaultKind kind) {
  constexpr std::string_view kWords[] = {
      "lose", "return", "fail_create", "fail_destroy", "slow", "reports_failure", "foreign_slice", "serving", "clear"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string fault_name(std::uint64_t id) { return fmt::format("fault-{}", id); }

std::string fault_text(const Scenario& scenario, const sim::FaultOrder& order) {
  if (order.serving && order.gpus.empty()) return serving_text(scenario, order);
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
