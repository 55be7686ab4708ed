/// The GPU agent, the privileged process: it changes the GPUs that its own configuration names, on orders of one client
/// at a time, starts and stops the programs that it names, and does nothing else. Its verbs are those of protocol.h.
///
/// One thread serves; one per GPU changes it, so a call that hangs delays only its own GPU. The lock of a GPU is taken
/// before its first change, and released when the client is gone.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/ports/gpu_changer.h"
#include "domain/ports/gpu_library.h"
#include "gpu/device/managed_gpu.h"
#include "gpu/device/verbs.h"
#include "gpu/hands/descriptor.h"
#include "gpu/hands/packet_socket.h"
#include "gpu/hands/program_verbs.h"

namespace berth::edges {

/// Library and changer are borrowed; if a call was left behind, until the process ends.
struct HandsServerOptions {
  GpuLibrary& library;
  GpuChanger& changer;
  std::vector<device::ManagedGpu> gpus;  ///< no other GPU is ever accessed
  std::string lock_folder;
  std::function<DeviceEnd(device::Tools&, const DeviceOrder&)> carry_out;  ///< thread-safe; called for each GPU
  std::function<void(const std::string&)> log;                             ///< a line; called by the thread that serves
  std::optional<ProgramVerbs> programs = std::nullopt;                     ///< absent: the configuration names none
  bool logs_clients = true;                                                ///< also logs connects and disconnects
  std::chrono::milliseconds patience{10'000};  ///< how long to wait at the end for calls that have not returned
};

/// Serves one client after the other until the descriptor `stop` can be read. When a client disconnects, its orders
/// under way are finished; their outcomes are kept, one per GPU, for the next client of the same world. Returns whether
/// all calls have returned; if not, the process must exit without destructors.
[[nodiscard]] bool serve_clients(const HandsSocket& socket, int stop, HandsServerOptions options);
/// Serves only this client, and returns when it is gone and the orders under way are finished; otherwise as above.
[[nodiscard]] bool serve_client(Descriptor client, int stop, HandsServerOptions options);

}  // namespace berth::edges
