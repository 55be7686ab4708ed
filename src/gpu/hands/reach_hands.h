/// Finds or starts the GPU agent that the user asked for, or gives the reason why there is none. Afterwards the process
/// has no capabilities.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/core/result.h"
#include "domain/ports/gpu_hands.h"
#include "domain/ports/process_hands.h"
#include "gpu/hands/hands_client.h"
#include "gpu/hands/hands_process.h"

namespace berth::edges {

struct HandsWish {
  /// Of a running agent; absent: one is started, if this process may.
  std::optional<std::string> socket_path = std::nullopt;
  std::string config_path = {};                         ///< for a started agent, which reads `manage` from it
  std::optional<std::string> nvml_path = std::nullopt;  ///< likewise
  std::string program = "/proc/self/exe";               ///< likewise; another one in tests only
};

/// The reason why there is no agent.
struct NoHands {
  std::string reason;
};

/// A process that was started, the path of a socket, or neither.
using HandsFound = std::variant<HandsProcess, std::string, NoHands>;

/// If this process may change GPUs, starts the same program as agent. Then drops all capabilities of this process in
/// any case. Requires: called once, before any other thread exists. Errors: the socket belongs to neither root nor this
/// user (kInvalidInput); the agent cannot be started, or capabilities cannot be dropped (kUnavailable). If no process
/// listens at the path, that is not an error: the client retries.
[[nodiscard]] Result<HandsFound> reach_hands(const HandsWish& wish);

/// The client of an agent, for GPUs and for programs.
struct HandsInUse {
  std::unique_ptr<GpuHands> gpus;
  ProcessHands* programs = nullptr;  ///< lives as long as `gpus`; null: there is no agent
  std::string why_no_programs = {};  ///< if there is none
};

/// A client of the agent. Without an agent, it refuses every order with the reason. Waits up to five seconds for the
/// first answer, so that GPUs do not appear closed at the start only to open shortly after.
[[nodiscard]] HandsInUse use_hands(HandsFound found, HandsClientOptions options);

}  // namespace berth::edges
