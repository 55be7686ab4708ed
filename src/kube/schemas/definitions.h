/// The kinds Tenant and GpuService as a cluster is to know them.
#pragma once

#include <string_view>
#include <vector>

#include "base/yaml/document.h"

namespace berth::kube {

/// Objects of the kind CustomResourceDefinition, in the order in which they are applied.
[[nodiscard]] std::vector<yaml::Node> custom_resource_definitions();

/// The schema of the objects of such a definition: `spec.versions[0].schema.openAPIV3Schema`.
[[nodiscard]] const yaml::Node& schema_in(const yaml::Node& definition);

}  // namespace berth::kube
