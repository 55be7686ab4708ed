// The writes of `Placing`.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kube/placing/placing.h"

namespace berth::kube {
namespace {

std::string devices_text(const std::vector<AllocatedDevice>& devices) {
  std::string text;
  for (const AllocatedDevice& each : devices) text += (text.empty() ? "" : ", ") + each.device.text();
  return text;
}

/// `metadata` of a merge patch: lists are replaced whole.
yaml::Node metadata_of(const std::vector<std::string>& finalizers, yaml::Node intent) {
  yaml::List names;
  for (const std::string& finalizer : finalizers) names.push_back(text_node(finalizer));
  yaml::Node metadata = map_node();
  put(metadata, "finalizers", {{}, std::move(names)});
  put(put(metadata, "annotations", map_node()), kIntentAnnotation, std::move(intent));
  return metadata;
}

}  // namespace

std::string_view word_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kIntent:
      return "intends";
    case ActionKind::kAllocate:
      return "allocates";
    case ActionKind::kOpenGate:
      return "opens";
    case ActionKind::kRelease:
      return "releases";
    case ActionKind::kWithdraw:
      return "withdraws";
    case ActionKind::kEvent:
      return "reports";
    case ActionKind::kClaim:
    case ActionKind::kPod:
      return "creates";
    case ActionKind::kEndPod:
    case ActionKind::kEndClaim:
      return "deletes";
  }
  return {};
}

Write Placing::claim_patch(const Claim& claim) const {
  return {.kind = WriteKind::kPatch,
          .resource = kResourceClaims,
          .name = claim.identity.name,
          .uid = claim.identity.uid,
          .version = claim.identity.version,
          .body = map_node()};
}

Action Placing::intent_action(const PodFacts& pod, const Claim& claim,
                              const std::vector<AllocatedDevice>& devices) const {
  Write write = claim_patch(claim);
  std::vector<std::string> finalizers = claim.finalizers;
  if (std::ranges::find(finalizers, kClaimFinalizer) == finalizers.end()) finalizers.emplace_back(kClaimFinalizer);
  put(write.body, "metadata",
      metadata_of(finalizers, text_node(intent_text({.epoch = options_.epoch, .devices = devices}))));
  return {ActionKind::kIntent, std::move(write),
          fmt::format("claim {} of pod {}: {}", claim.identity.name.text(), pod.identity.name.text(),
                      devices_text(devices))};
}

Action Placing::allocate_action(const Claim& claim, const std::string& wall) const {
  const auto intent = parse_intent(*claim.intent);
  Write write = claim_patch(claim);
  write.subresource = "status";
  // Whole seconds: metav1.Time has no more.
  const std::string time = wall.substr(0, wall.find('.')) + "Z";
  put(put(write.body, "status", map_node()), "allocation",
      allocation_of(
          {.claim = claim, .devices = intent->devices, .classes = classes_, .node = node_of(claim), .time = time}));
  return {ActionKind::kAllocate, std::move(write),
          fmt::format("claim {}: {}", claim.identity.name.text(), devices_text(intent->devices))};
}

Action Placing::gate_action(const PodFacts& pod) const {
  yaml::List gates;
  for (const std::string& gate : pod.gates) {
    if (gate != kPlaceGate) put(gates.emplace_back(map_node()), "name", text_node(gate));
  }
  Write write{.kind = WriteKind::kPatch,
              .resource = kPods,
              .name = pod.identity.name,
              .uid = pod.identity.uid,
              .version = pod.identity.version,
              .body = map_node()};
  put(put(write.body, "spec", map_node()), "schedulingGates", {{}, std::move(gates)});
  return {ActionKind::kOpenGate, std::move(write), fmt::format("the gate of pod {}", pod.identity.name.text())};
}

Action Placing::release_action(const Claim& claim) const {
  Write write = claim_patch(claim);
  write.subresource = "status";
  put(put(write.body, "status", map_node()), "allocation", null_node());
  return {ActionKind::kRelease, std::move(write),
          fmt::format("claim {}: {}", claim.identity.name.text(), devices_text(claim.allocated))};
}

Action Placing::withdraw_action(const Claim& claim, bool is_for_good) const {
  Write write = claim_patch(claim);
  std::vector<std::string> finalizers = claim.finalizers;
  if (is_for_good) std::erase(finalizers, kClaimFinalizer);
  // Without devices it says that Berth is to choose anew, also to the next operator.
  yaml::Node intent = is_for_good ? null_node() : text_node(intent_text({.epoch = options_.epoch, .devices = {}}));
  put(write.body, "metadata", metadata_of(finalizers, std::move(intent)));
  return {ActionKind::kWithdraw, std::move(write), fmt::format("the intent of claim {}", claim.identity.name.text())};
}

}  // namespace berth::kube
