/// From what a user asked for to hands, or to the reason why there are none. Afterwards the process has no capability.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/core/result.h"
#include "domain/ports/gpu_hands.h"
#include "gpu/hands/hands_client.h"
#include "gpu/hands/hands_process.h"

namespace berth::edges {

struct HandsWish {
  /// Of hands that run already; absent: they are started, if that is allowed.
  std::optional<std::string> socket_path = std::nullopt;
  std::string config_path = {};                         ///< for those that are started; they read `manage` of it
  std::optional<std::string> nvml_path = std::nullopt;  ///< likewise
  std::string program = "/proc/self/exe";               ///< likewise; another one in tests only
};

/// No hands: a reason.
struct NoHands {
  std::string reason;
};

/// A process that was started, the path of a socket, or neither.
using HandsFound = std::variant<HandsProcess, std::string, NoHands>;

/// Whoever may change GPUs starts this same program as hands. Then all capabilities of this process are dropped,
/// whatever was found. To be called once, before any other thread exists. Errors: the socket belongs to neither root
/// nor this user (kInvalidInput); hands cannot be started, or capabilities not dropped (kUnavailable). That nothing
/// listens at the path is no error: it is looked for again.
[[nodiscard]] Result<HandsFound> reach_hands(const HandsWish& wish);

/// The hands to give orders to. Without any, every order is refused, with the reason. Waits for their first answer, at
/// most five seconds, so that a start does not find every GPU closed that opens a moment later.
[[nodiscard]] std::unique_ptr<GpuHands> use_hands(HandsFound found, HandsClientOptions options);

}  // namespace berth::edges
