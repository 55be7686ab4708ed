/// The device of a model server: its lanes, its memory, and what is known of its models.
#pragma once

#include <memory>
#include <string>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "edges/cuda_device/cuda_device.h"
#include "serving/config/serve_request.h"
#include "serving/server/server_core.h"

namespace berth::serve {

struct ServeDevice {
  std::string name;         ///< such as "cpu"
  std::string description;  ///< for clients: of a simulated device, also that it is simulated
  std::int64_t memory = 0;
  int lanes = 1;
  std::function<std::optional<serving::ModelTerms>(const std::string&)> simulated = {};
  std::shared_ptr<const edges::CudaDevice> cuda = nullptr;  ///< of cuda:N alone
};

/// Errors: those of the file of a simulated device; a device that this machine does not have; the
/// provider for it is missing.
[[nodiscard]] Result<ServeDevice> find_device(const serving::ServeRequest& request, const Files& files);

}  // namespace berth::serve
