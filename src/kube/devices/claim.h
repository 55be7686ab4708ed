/// Claims on devices, and the classes that they name.
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
#include "kube/devices/selector.h"

namespace berth::kube {

struct DeviceClass {
  std::string name;
  std::vector<Selector> selectors = {};
  std::string not_understood = {};  ///< why none of its devices are chosen; empty: it is understood
  yaml::List config = {};           ///< of its devices, as written
};

/// One way to satisfy a request.
struct RequestOption {
  std::string name = {};  ///< "REQUEST", or "REQUEST/SUBREQUEST"
  std::string class_name = {};
  std::vector<Selector> selectors = {};
  std::int64_t count = 1;
  std::vector<Toleration> tolerations = {};
};

struct DeviceRequest {
  std::string name = {};
  std::vector<RequestOption> options = {};  ///< the first that fits is taken
};

/// All devices of these requests have the same value of an attribute.
struct MatchConstraint {
  std::vector<std::string> requests = {};  ///< empty: all
  std::string attribute = {};
};

/// A device that a claim has, for one of its requests.
struct AllocatedDevice {
  std::string request = {};
  DeviceName device = {};
  friend bool operator==(const AllocatedDevice&, const AllocatedDevice&) = default;
};

struct Claim {
  Identity identity = {};
  std::vector<DeviceRequest> requests = {};
  std::vector<MatchConstraint> constraints = {};
  yaml::List config = {};
  std::string not_understood = {};  ///< why it is not placed; empty: it is understood
  std::vector<AllocatedDevice> allocated = {};
  bool is_allocated = false;
  bool is_reserved = false;
  bool is_being_deleted = false;
  bool is_of_service = false;    ///< it has the label kServiceLabel: its device is the one that a plan names
  bool tolerates_owned = false;  ///< some request tolerates the taint of owned pools
  std::vector<std::string> finalizers = {};
  std::optional<std::string> intent = std::nullopt;  ///< the annotation
};

/// The taint of owned pools, and the annotation with the devices that a claim is about to get.
inline constexpr std::string_view kOwnedTaint = "berth.dev/owned";
inline constexpr std::string_view kIntentAnnotation = "berth.dev/intent";
/// The label of claims and pods of the slices of services: the service.
inline constexpr std::string_view kServiceLabel = "berth.dev/service";
inline constexpr std::string_view kClaimFinalizer = "resource.kubernetes.io/delete-protection";

[[nodiscard]] Result<DeviceClass> read_class(const yaml::Node& object);
[[nodiscard]] Result<Claim> read_claim(const yaml::Node& object);

/// An intent as text and back: "EPOCH REQUEST=DRIVER/POOL/DEVICE ...". Names of devices have no slash or space.
struct Intent {
  std::int64_t epoch = 0;
  std::vector<AllocatedDevice> devices = {};
};
[[nodiscard]] std::string intent_text(const Intent& intent);
[[nodiscard]] std::optional<Intent> parse_intent(std::string_view text);

/// status.allocation as the scheduler would write it. `time` is in RFC 3339.
struct AllocationParts {
  const Claim& claim;
  const std::vector<AllocatedDevice>& devices;
  const std::map<std::string, DeviceClass>& classes;
  std::string node;
  std::string time;
};
[[nodiscard]] yaml::Node allocation_of(const AllocationParts& parts);

}  // namespace berth::kube
