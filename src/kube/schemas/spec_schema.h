/// Structural schemas (OpenAPI v3 as Kubernetes restricts it) from the table of keys.
#pragma once

#include "base/yaml/document.h"
#include "domain/scenario/service_keys.h"

namespace berth::kube {

/// The schema of a map with these keys.
[[nodiscard]] yaml::Node schema_of_map(const scenario::KeyList& keys);
/// The schema of the value of a key.
[[nodiscard]] yaml::Node schema_of(const scenario::ServiceKey& key);

}  // namespace berth::kube
