#include "kube/devices/node_fit.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "kube/devices/quantity.h"

namespace berth::kube {
namespace {

std::map<std::string, std::string> texts_at(const yaml::Node& node, std::initializer_list<std::string_view> keys) {
  std::map<std::string, std::string> texts;
  const yaml::Node* at = json::find_at(node, keys);
  const auto* map = at == nullptr ? nullptr : std::get_if<yaml::Map>(&at->value);
  if (map == nullptr) return texts;
  for (const yaml::Entry& entry : *map) {
    if (const auto* text = json::text_in(entry.value)) texts[entry.key] = *text;
  }
  return texts;
}

std::int64_t quantity_at(const yaml::Node* resources, std::string_view key) {
  if (resources == nullptr) return 0;
  return parse_quantity_milli(json::text_at(*resources, {key})).value_or(0);
}

NodeRoom room_in(const yaml::Node* resources) {
  return {quantity_at(resources, "cpu"), quantity_at(resources, "memory"), quantity_at(resources, "pods") / 1'000};
}

bool is_true(const yaml::Node& node, std::initializer_list<std::string_view> keys) {
  const yaml::Node* at = json::find_at(node, keys);
  return at != nullptr && json::truth_in(*at) == true;
}

/// Containers run together; initial ones one after the other, before them, but those that restart always stay.
NodeRoom wants_of(const yaml::Node& pod) {
  NodeRoom sum{0, 0, 1};
  for (const yaml::Node& container : json::list_at(pod, {"spec", "containers"})) {
    const NodeRoom each = room_in(json::find_at(container, {"resources", "requests"}));
    sum.cpu += each.cpu;
    sum.memory += each.memory;
  }
  NodeRoom most;
  NodeRoom staying;
  for (const yaml::Node& container : json::list_at(pod, {"spec", "initContainers"})) {
    const NodeRoom each = room_in(json::find_at(container, {"resources", "requests"}));
    if (json::text_at(container, {"restartPolicy"}) == "Always") {
      staying.cpu += each.cpu;
      staying.memory += each.memory;
    }
    most.cpu = std::max(most.cpu, staying.cpu + each.cpu);
    most.memory = std::max(most.memory, staying.memory + each.memory);
  }
  sum.cpu = std::max(sum.cpu + staying.cpu, most.cpu);
  sum.memory = std::max(sum.memory + staying.memory, most.memory);
  const NodeRoom overhead = room_in(json::find_at(pod, {"spec", "overhead"}));
  sum.cpu += overhead.cpu;
  sum.memory += overhead.memory;
  return sum;
}

std::vector<LabelRequirement> requirements_in(const yaml::Node& term) {
  std::vector<LabelRequirement> requirements;
  for (const auto& [key, is_of_name] :
       {std::pair<std::string_view, bool>{"matchExpressions", false}, {"matchFields", true}}) {
    for (const yaml::Node& node : json::list_at(term, {key})) {
      LabelRequirement requirement{.key = std::string(json::text_at(node, {"key"})),
                                   .op = std::string(json::text_at(node, {"operator"})),
                                   .is_of_name = is_of_name};
      for (const yaml::Node& value : json::list_at(node, {"values"})) {
        if (const auto* text = json::text_in(value)) requirement.values.push_back(*text);
      }
      requirements.push_back(std::move(requirement));
    }
  }
  return requirements;
}

std::vector<PodClaim> claims_of(const yaml::Node& pod) {
  std::vector<PodClaim> claims;
  for (const yaml::Node& node : json::list_at(pod, {"spec", "resourceClaims"})) {
    PodClaim claim{.reference = std::string(json::text_at(node, {"name"}))};
    const std::string_view direct = json::text_at(node, {"resourceClaimName"});
    if (!direct.empty()) claim.claim = std::string(direct);
    bool is_needless = false;
    for (const yaml::Node& status : json::list_at(pod, {"status", "resourceClaimStatuses"})) {
      if (json::text_at(status, {"name"}) != claim.reference) continue;
      const std::string_view made = json::text_at(status, {"resourceClaimName"});
      if (!made.empty()) claim.claim = std::string(made);
      is_needless = made.empty();
    }
    if (!is_needless) claims.push_back(std::move(claim));
  }
  return claims;
}

bool read_whole(std::string_view text, std::int64_t& number) {
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && rest == text.data() + text.size();
}

bool suits(const LabelRequirement& requirement, const NodeFacts& node) {
  const auto label = node.labels.find(requirement.key);
  const bool is_there = requirement.is_of_name ? requirement.key == "metadata.name" : label != node.labels.end();
  const std::string value = requirement.is_of_name ? node.name : is_there ? label->second : std::string();
  const bool is_listed = std::ranges::find(requirement.values, value) != requirement.values.end();
  if (requirement.op == "In") return is_there && is_listed;
  if (requirement.op == "NotIn") return !is_there || !is_listed;
  if (requirement.op == "Exists") return is_there;
  if (requirement.op == "DoesNotExist") return !is_there;
  std::int64_t found = 0;
  std::int64_t wanted = 0;
  if (!is_there || requirement.values.empty() || !read_whole(value, found)) return false;
  if (!read_whole(requirement.values.front(), wanted)) return false;
  return requirement.op == "Gt" ? found > wanted : requirement.op == "Lt" && found < wanted;
}

bool tolerates_all(const PodFacts& pod, const NodeFacts& node) {
  return std::ranges::all_of(node.taints, [&](const DeviceTaint& taint) {
    if (taint.effect == "PreferNoSchedule") return true;
    return std::ranges::any_of(pod.tolerations, [&](const Toleration& toleration) {
      return tolerates(toleration, taint.key, taint.value, taint.effect);
    });
  });
}

}  // namespace

bool PodFacts::waits_for_berth() const {
  return node.empty() && !is_finished && !is_being_deleted && std::ranges::find(gates, kPlaceGate) != gates.end();
}

Result<NodeFacts> read_node(const yaml::Node& object) {
  auto identity = identity_of(object);
  if (!identity) return pass_on(identity.error());
  NodeFacts node{.name = identity->name.name};
  node.labels = texts_at(object, {"metadata", "labels"});
  for (const yaml::Node& taint : json::list_at(object, {"spec", "taints"})) {
    node.taints.push_back({std::string(json::text_at(taint, {"key"})), std::string(json::text_at(taint, {"value"})),
                           std::string(json::text_at(taint, {"effect"}))});
  }
  const yaml::Node* allocatable = json::find_at(object, {"status", "allocatable"});
  node.room = room_in(allocatable != nullptr ? allocatable : json::find_at(object, {"status", "capacity"}));
  node.is_cordoned = is_true(object, {"spec", "unschedulable"});
  for (const yaml::Node& condition : json::list_at(object, {"status", "conditions"})) {
    if (json::text_at(condition, {"type"}) == "Ready") node.is_ready = json::text_at(condition, {"status"}) == "True";
  }
  return node;
}

Result<PodFacts> read_pod(const yaml::Node& object) {
  auto identity = identity_of(object);
  if (!identity) return pass_on(identity.error());
  PodFacts pod{.identity = *std::move(identity)};
  pod.created = json::text_at(object, {"metadata", "creationTimestamp"});
  for (const yaml::Node& gate : json::list_at(object, {"spec", "schedulingGates"})) {
    pod.gates.emplace_back(json::text_at(gate, {"name"}));
  }
  pod.node = json::text_at(object, {"spec", "nodeName"});
  pod.claims = claims_of(object);
  pod.wants = wants_of(object);
  pod.node_selector = texts_at(object, {"spec", "nodeSelector"});
  for (const yaml::Node& term :
       json::list_at(object, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
                              "nodeSelectorTerms"})) {
    pod.affinity.push_back(requirements_in(term));
  }
  for (const yaml::Node& item : json::list_at(object, {"spec", "tolerations"})) {
    pod.tolerations.push_back({.key = std::string(json::text_at(item, {"key"})),
                               .value = std::string(json::text_at(item, {"value"})),
                               .effect = std::string(json::text_at(item, {"effect"})),
                               .is_any_value = json::text_at(item, {"operator"}) == "Exists"});
  }
  const std::string_view phase = json::text_at(object, {"status", "phase"});
  pod.is_finished = phase == "Succeeded" || phase == "Failed";
  pod.is_being_deleted = !json::text_at(object, {"metadata", "deletionTimestamp"}).empty();
  return pod;
}

std::optional<std::string> unfit(const PodFacts& pod, const NodeFacts& node, const NodeRoom& used) {
  if (node.is_cordoned) return "node cordoned";
  if (!node.is_ready) return "node not ready";
  if (!tolerates_all(pod, node)) return "node taint";
  for (const auto& [key, value] : pod.node_selector) {
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value) return "node selector";
  }
  const auto suits_term = [&](const std::vector<LabelRequirement>& term) {
    return !term.empty() && std::ranges::all_of(term, [&](const LabelRequirement& each) { return suits(each, node); });
  };
  if (!pod.affinity.empty() && std::ranges::none_of(pod.affinity, suits_term)) return "node affinity";
  if (used.cpu + pod.wants.cpu > node.room.cpu) return "node CPU";
  if (used.memory + pod.wants.memory > node.room.memory) return "node memory";
  if (used.pods + pod.wants.pods > node.room.pods) return "pods of the node";
  return std::nullopt;
}

}  // namespace berth::kube
