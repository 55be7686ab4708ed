#include "kube/lease/pause.h"

#include "base/json/node_text.h"

namespace berth::kube {

ObjectName pause_name(const ObjectName& lease) { return {lease.namespace_name, lease.name + "-pause"}; }

std::optional<std::string> pause_reason(const yaml::Node& config_map) {
  if (json::text_at(config_map, {"data", "paused"}) != "true") return std::nullopt;
  return std::string(json::text_at(config_map, {"data", "reason"}));
}

Write pause_write(const ObjectName& lease, const std::optional<std::string>& reason) {
  Write write{.kind = WriteKind::kApply, .resource = kConfigMaps, .name = pause_name(lease), .body = map_node()};
  yaml::Node& fields = put(write.body, "data", map_node());
  put(fields, "paused", text_node(reason ? "true" : "false"));
  put(fields, "reason", text_node(reason.value_or("")));
  return write;
}

}  // namespace berth::kube
