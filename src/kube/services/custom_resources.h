/// The kinds of objects that Berth defines in a cluster.
#pragma once

#include <array>

#include "kube/client/resource.h"

namespace berth::kube {

inline constexpr std::string_view kCustomGroup = "berth.dev";
inline constexpr std::string_view kCustomVersion = "v1alpha1";

inline constexpr Resource kTenants = {kCustomGroup, kCustomVersion, "tenants", "Tenant"};
inline constexpr Resource kGpuServices = {kCustomGroup, kCustomVersion, "gpuservices", "GpuService", true};

inline constexpr std::array<Resource, 2> kServiceResources = {kTenants, kGpuServices};

}  // namespace berth::kube
