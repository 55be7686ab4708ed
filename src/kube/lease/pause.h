/// A pause of planning in the cluster, so that it outlives the operator that was asked for it: a ConfigMap next to the
/// Lease.
#pragma once

#include <optional>
#include <string>

#include "base/yaml/document.h"
#include "kube/client/resource.h"
#include "kube/client/write.h"

namespace berth::kube {

/// The ConfigMap of a Lease: "NAME-pause" in its namespace.
[[nodiscard]] ObjectName pause_name(const ObjectName& lease);

/// The reason for which planning is paused; nothing: it is not paused.
[[nodiscard]] std::optional<std::string> pause_reason(const yaml::Node& config_map);

/// Pauses with a reason, which may be empty, or resumes. An apply, which says the same if it is repeated.
[[nodiscard]] Write pause_write(const ObjectName& lease, const std::optional<std::string>& reason);

}  // namespace berth::kube
