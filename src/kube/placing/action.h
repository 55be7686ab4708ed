/// A write that the operator wants, and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/client/write.h"

namespace berth::kube {

enum class ActionKind : std::uint8_t {
  kIntent,    ///< the claim is to get these devices
  kAllocate,  ///< it gets them
  kOpenGate,  ///< its pod may be scheduled
  kRelease,   ///< nobody uses the allocation
  kWithdraw,  ///< the intent is not to be carried out, or has ended
  kEvent,     ///< what a pod waits for
  kClaim,     ///< a claim of a slice of a service
  kPod,       ///< the pod on it
  kEndPod,    ///< the pod is to go, with its grace period
  kEndClaim,  ///< then its claim
};

struct Action {
  ActionKind kind = ActionKind::kIntent;
  Write write;
  std::string text;  ///< for the log: "pod lab/one: node a, devices ..."
};

[[nodiscard]] std::string_view word_of(ActionKind kind);

}  // namespace berth::kube
