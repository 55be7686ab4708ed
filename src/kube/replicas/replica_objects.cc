// The objects that ReplicaBook writes.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "kube/devices/node_fit.h"
#include "kube/placing/owned_pools.h"
#include "kube/replicas/replica_book.h"

namespace berth::kube {
namespace {

constexpr const char* kRequest = "slice";
constexpr const char* kClaimOfPod = "berth-slice";  ///< spec.resourceClaims[].name
constexpr const char* kMigClass = "mig.nvidia.com";
constexpr const char* kWholeClass = "gpu.nvidia.com";
constexpr std::size_t kServicePartMax = 40;

/// FNV-1a: names have to be the same in each run of a world.
std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t kBasis = 14'695'981'039'346'656'037ULL;
  constexpr std::uint64_t kPrime = 1'099'511'628'211ULL;
  std::uint64_t hash = kBasis;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * kPrime;
  return hash;
}

/// A name that the API server accepts for objects and in labels.
std::string dns_part(const std::string& name) {
  std::string part;
  for (const char byte : name.substr(0, kServicePartMax)) {
    const auto unsigned_byte = static_cast<unsigned char>(byte);
    part += std::isalnum(unsigned_byte) != 0 ? static_cast<char>(std::tolower(unsigned_byte)) : '-';
  }
  while (!part.empty() && part.back() == '-') part.pop_back();
  while (!part.empty() && part.front() == '-') part.erase(part.begin());
  return part.empty() ? "slice" : part;
}

/// Profiles such as "1g.10gb+me" have a character that labels cannot have.
std::string label_value(std::string text) {
  std::ranges::replace(text, '+', '.');
  return text;
}

yaml::Node& map_in(yaml::Node& map, std::string_view key) {
  auto& entries = std::get<yaml::Map>(map.value);
  const auto found = std::ranges::find(entries, key, &yaml::Entry::key);
  if (found == entries.end() || !std::holds_alternative<yaml::Map>(found->value.value))
    return put(map, key, map_node());
  return found->value;
}

yaml::List& list_in_map(yaml::Node& map, std::string_view key) {
  auto& entries = std::get<yaml::Map>(map.value);
  const auto found = std::ranges::find(entries, key, &yaml::Entry::key);
  if (found == entries.end() || !std::holds_alternative<yaml::List>(found->value.value))
    return std::get<yaml::List>(put(map, key, {{}, yaml::List()}).value);
  return std::get<yaml::List>(found->value.value);
}

void put_labels(yaml::Node& metadata, const WantedReplica& wanted, const std::string& world) {
  yaml::Node& labels = map_in(metadata, "labels");
  put(labels, kManagedByLabel, text_node(std::string(kFieldManager)));
  put(labels, kServiceLabel, text_node(wanted.service));
  put(labels, kWorldLabel, text_node(world));
  put(labels, kSliceLabel, text_node(label_value(wanted.slice)));
}

}  // namespace

std::string template_name(const std::string& pod) { return fmt::format("{:016x}", hash_of(pod)); }

ObjectName ReplicaBook::name_of(const WantedReplica& wanted) const {
  const std::uint64_t hash = hash_of(fmt::format("{}/{}/{}", options_.world, wanted.slice, wanted.service));
  return {wanted.tenant, fmt::format("{}-{:08x}", dns_part(wanted.service), hash & 0xFFFF'FFFFU)};
}

Action ReplicaBook::claim_action(const Replica& replica) const {
  const WantedReplica& wanted = replica.wanted;
  yaml::Node body = map_node();
  yaml::Node& metadata = put(body, "metadata", map_node());
  put_labels(metadata, wanted, options_.world);
  put(put(metadata, "annotations", map_node()), kIntentAnnotation,
      text_node(intent_text({.epoch = options_.epoch, .devices = {{.request = kRequest, .device = wanted.device}}})));
  put(metadata, "finalizers", {{}, yaml::List{text_node(std::string(kClaimFinalizer))}});
  yaml::Node request = map_node();
  put(request, "name", text_node(kRequest));
  put(put(request, "exactly", map_node()), "deviceClassName", text_node(wanted.is_mig ? kMigClass : kWholeClass));
  put(put(put(body, "spec", map_node()), "devices", map_node()), "requests", {{}, yaml::List{std::move(request)}});
  return {ActionKind::kClaim,
          {.kind = WriteKind::kCreate, .resource = kResourceClaims, .name = replica.object, .body = std::move(body)},
          fmt::format("claim {} for slice {}: {}", replica.object.text(), wanted.slice, wanted.device.text())};
}

Result<Action> ReplicaBook::pod_action(const Replica& replica) const {
  const WantedReplica& wanted = replica.wanted;
  auto body = json::parse_document(wanted.pod, "pod");
  if (!body || !std::holds_alternative<yaml::Map>(body->value)) return invalid("its pod template cannot be read");
  yaml::Node& metadata = map_in(*body, "metadata");
  put_labels(metadata, wanted, options_.world);
  put(map_in(metadata, "annotations"), kTemplateAnnotation, text_node(template_name(wanted.pod)));
  yaml::Node& spec = map_in(*body, "spec");
  yaml::Node gate = map_node();
  put(gate, "name", text_node(std::string(kPlaceGate)));
  put(spec, "schedulingGates", {{}, yaml::List{std::move(gate)}});
  yaml::Node reference = map_node();
  put(reference, "name", text_node(kClaimOfPod));
  put(reference, "resourceClaimName", text_node(replica.object.name));
  list_in_map(spec, "resourceClaims").push_back(std::move(reference));
  for (yaml::Node& container : list_in_map(spec, "containers")) {
    if (!std::holds_alternative<yaml::Map>(container.value))
      return invalid("a container of its pod template is no map");
    yaml::Node use = map_node();
    put(use, "name", text_node(kClaimOfPod));
    list_in_map(map_in(container, "resources"), "claims").push_back(std::move(use));
  }
  return Action{ActionKind::kPod,
                {.kind = WriteKind::kCreate, .resource = kPods, .name = replica.object, .body = *std::move(body)},
                fmt::format("pod {} on slice {}", replica.object.text(), wanted.slice)};
}

}  // namespace berth::kube
