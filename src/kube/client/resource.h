/// The resources of the API and the paths of their objects.
#pragma once

#include <string>
#include <string_view>

namespace berth::kube {

/// A kind of objects.
struct Resource {
  std::string_view group;  ///< empty: the core
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool is_namespaced = false;
};

inline constexpr Resource kPods = {"", "v1", "pods", "Pod", true};
inline constexpr Resource kNodes = {"", "v1", "nodes", "Node"};
inline constexpr Resource kNamespaces = {"", "v1", "namespaces", "Namespace"};
inline constexpr Resource kConfigMaps = {"", "v1", "configmaps", "ConfigMap", true};
inline constexpr Resource kLeases = {"coordination.k8s.io", "v1", "leases", "Lease", true};
inline constexpr Resource kEvents = {"events.k8s.io", "v1", "events", "Event", true};
inline constexpr Resource kResourceSlices = {"resource.k8s.io", "v1", "resourceslices", "ResourceSlice"};
inline constexpr Resource kResourceClaims = {"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", true};
inline constexpr Resource kDeviceClasses = {"resource.k8s.io", "v1", "deviceclasses", "DeviceClass"};
inline constexpr Resource kDeviceTaintRules = {"resource.k8s.io", "v1", "devicetaintrules", "DeviceTaintRule"};

/// Names an object of a resource; the namespace is empty where the resource has none.
struct ObjectName {
  std::string namespace_name;
  std::string name;
  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;

  /// "NAMESPACE/NAME", or "NAME".
  [[nodiscard]] std::string text() const { return namespace_name.empty() ? name : namespace_name + "/" + name; }
};

/// "resource.k8s.io/v1", or "v1".
[[nodiscard]] std::string api_version(const Resource& resource);
/// All objects, of every namespace: "/apis/resource.k8s.io/v1/resourceclaims".
[[nodiscard]] std::string collection_path(const Resource& resource);
/// Those of a namespace, where objects are created.
[[nodiscard]] std::string collection_path(const Resource& resource, std::string_view namespace_name);
/// "/api/v1/namespaces/lab/pods/one", with a subresource such as "status" behind it unless that is empty.
[[nodiscard]] std::string object_path(const Resource& resource, const ObjectName& name,
                                      std::string_view subresource = "");

/// A text as a part of a path or a query: everything but letters, digits, - _ . ~ is encoded.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace berth::kube
