/// Nodes and pods, as far as Berth reads them, and whether a pod suits a node apart from its devices.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "base/yaml/document.h"
#include "kube/client/frame.h"
#include "kube/devices/device.h"

namespace berth::kube {

/// The scheduling gate of pods that wait for Berth.
inline constexpr std::string_view kPlaceGate = "berth.dev/place";

/// CPU in milli, memory in milli bytes.
struct NodeRoom {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::int64_t pods = 0;
  friend bool operator==(const NodeRoom&, const NodeRoom&) = default;
};

struct NodeFacts {
  std::string name;
  std::map<std::string, std::string> labels = {};
  std::vector<DeviceTaint> taints = {};
  NodeRoom room = {};  ///< allocatable
  bool is_cordoned = false;
  bool is_ready = false;
  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

/// A requirement of node affinity.
struct LabelRequirement {
  std::string key;
  std::string op;  ///< In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values = {};
  bool is_of_name = false;  ///< matchFields: of the node's name
};

struct PodClaim {
  std::string reference;                            ///< spec.resourceClaims[].name
  std::optional<std::string> claim = std::nullopt;  ///< the object's name; nothing: it does not exist yet
};

struct PodFacts {
  Identity identity = {};
  std::string created = {};  ///< creationTimestamp: its texts have the order of the times
  std::vector<std::string> gates = {};
  std::string node = {};
  std::vector<PodClaim> claims = {};
  NodeRoom wants = {};
  std::map<std::string, std::string> node_selector = {};
  std::vector<std::vector<LabelRequirement>> affinity = {};  ///< one of these terms; empty: any node
  std::vector<Toleration> tolerations = {};
  bool is_finished = false;
  bool is_being_deleted = false;

  [[nodiscard]] bool waits_for_berth() const;
};

[[nodiscard]] Result<NodeFacts> read_node(const yaml::Node& object);
[[nodiscard]] Result<PodFacts> read_pod(const yaml::Node& object);

/// Why the pod does not suit the node, in words: "node cordoned", "node not ready", "node taint", "node selector",
/// "node affinity", "node CPU", "node memory", "pods of the node"; nothing if it does. `used` is what its pods take.
[[nodiscard]] std::optional<std::string> unfit(const PodFacts& pod, const NodeFacts& node, const NodeRoom& used);

}  // namespace berth::kube
