#include "kube/placing/explain.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::kube {
namespace {

std::string claim_line(const Placing& placing, const PodFacts& pod, const PodClaim& reference) {
  if (!reference.claim) return fmt::format("  {}: does not exist yet\n", reference.reference);
  const auto found = placing.claims().find({pod.identity.name.namespace_name, *reference.claim});
  if (found == placing.claims().end()) return fmt::format("  {}: no such claim\n", *reference.claim);
  const Claim& claim = found->second;
  if (!claim.is_allocated) return fmt::format("  {}: no devices yet\n", *reference.claim);
  std::string devices;
  for (const AllocatedDevice& each : claim.allocated) devices += (devices.empty() ? "" : ", ") + each.device.text();
  return fmt::format("  {}: {}{}\n", *reference.claim, devices, claim.intent ? "" : " (not chosen by Berth)");
}

std::string headline(const Placing& placing, const std::vector<Action>& actions, const PodFacts& pod) {
  if (pod.is_finished) return "has ended";
  if (pod.is_being_deleted) return "is being deleted";
  if (!pod.node.empty()) return fmt::format("is bound to node {}", pod.node);
  if (const auto why = placing.why(pod.identity.name)) return fmt::format("waits: {}", *why);
  const auto concerns_it = [&](const Action& action) {
    if (action.kind == ActionKind::kEvent) return false;
    if (action.write.resource.plural == kPods.plural) return action.write.name == pod.identity.name;
    return std::ranges::any_of(pod.claims, [&](const PodClaim& each) {
      return each.claim && action.write.name == ObjectName{pod.identity.name.namespace_name, *each.claim};
    });
  };
  const auto next = std::ranges::find_if(actions, concerns_it);
  if (next != actions.end())
    return fmt::format("can be placed; the operator's next write {} {}", word_of(next->kind), next->text);
  if (pod.claims.empty()) return "has no claims: it is left to the scheduler";
  if (pod.waits_for_berth()) return "waits for the operator";
  return pod.gates.empty() ? "waits for the scheduler" : fmt::format("waits at the gate {}", pod.gates.front());
}

}  // namespace

Result<std::string> explain_pod(const Placing& placing, const std::vector<Action>& actions, const ObjectName& pod) {
  const auto found = placing.pods().find(pod);
  if (found == placing.pods().end())
    return fail(ErrorCode::kNotFound, fmt::format("pod {}: wanted a pod of the cluster, found none", pod.text()));
  std::string text = fmt::format("pod {} {}\n", pod.text(), headline(placing, actions, found->second));
  for (const PodClaim& reference : found->second.claims) text += claim_line(placing, found->second, reference);
  return text;
}

}  // namespace berth::kube
