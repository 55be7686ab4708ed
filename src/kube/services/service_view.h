/// A service as its status shows it: the parts of the API's status that change seldom.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/yaml/document.h"

namespace berth::kube {

struct ConditionView {
  std::string type;
  std::string status;  ///< "True", "False", "Unknown"
  std::string reason;
  std::string message = {};
  std::string since;  ///< RFC 3339: when it got this status
  friend bool operator==(const ConditionView&, const ConditionView&) = default;
};

struct SliceView {
  std::string gpu;      ///< "gpu-3"
  std::string profile;  ///< "1g.10gb"
  std::int64_t start = 0;
  std::string role;
  std::string state;
  friend bool operator==(const SliceView&, const SliceView&) = default;
};

struct ServiceView {
  std::string phase;
  std::vector<ConditionView> conditions;
  std::vector<SliceView> slices;
  friend bool operator==(const ServiceView&, const ServiceView&) = default;
};

/// The view of a GpuService as the API shows it; nothing if the object has no phase.
[[nodiscard]] std::optional<ServiceView> view_of_api_object(const yaml::Node& object);

/// `status` of an object. `phase` and what follows from slices are left out if there is no service.
[[nodiscard]] yaml::Node status_node(std::int64_t generation, const ConditionView& accepted,
                                     const std::optional<ServiceView>& service);

/// Whether a status has all that `wanted` says: conditions are found by their type, other lists must be equal.
[[nodiscard]] bool has_status(const yaml::Node& found, const yaml::Node& wanted);

}  // namespace berth::kube
