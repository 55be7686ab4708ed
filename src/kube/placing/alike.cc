#include "kube/placing/alike.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace berth::kube {
namespace {

void add_tolerations(const std::vector<Toleration>& tolerations, std::string& text) {
  for (const Toleration& each : tolerations)
    text += fmt::format("\ntolerates {} {} {} {}", each.key, each.value, each.effect, each.is_any_value);
}

}  // namespace

std::string alike_text(const PodFacts& pod, std::span<const Claim* const> claims) {
  std::string text = fmt::format("{} {} {}", pod.wants.cpu, pod.wants.memory, pod.wants.pods);
  for (const auto& [key, value] : pod.node_selector) text += fmt::format("\n{}={}", key, value);
  for (const auto& term : pod.affinity) {
    text += "\nterm";
    for (const LabelRequirement& each : term)
      text += fmt::format("\n{} {} {} {}", each.key, each.op, each.is_of_name, fmt::join(each.values, " "));
  }
  add_tolerations(pod.tolerations, text);
  for (const Claim* const claim : claims) {
    text += "\nclaim";
    for (const DeviceRequest& request : claim->requests) {
      for (const RequestOption& option : request.options) {
        text += fmt::format("\n{} {} {}", option.name, option.class_name, option.count);
        for (const Selector& selector : option.selectors) text += "\n" + selector.text;
        add_tolerations(option.tolerations, text);
      }
    }
    for (const MatchConstraint& constraint : claim->constraints)
      text += fmt::format("\nmatch {} {}", constraint.attribute, fmt::join(constraint.requests, " "));
  }
  return text;
}

}  // namespace berth::kube
