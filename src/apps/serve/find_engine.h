/// The engine that runs the models.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apps/serve/serve_device.h"
#include "base/core/result.h"
#include "domain/ports/model_engine.h"
#include "serving/config/serve_request.h"

namespace berth::serve {

/// Opens the library that the request names, or the one where scripts/setup puts it. `device`: where models run,
/// borrowed. `report`: what the engine says to the operator. Errors, kInvalidInput: there is none, with the command
/// that gets it; this program was built without its headers.
[[nodiscard]] Result<std::unique_ptr<ModelEngine>> find_engine(const serving::ServeRequest& request,
                                                               const ServeDevice& device,
                                                               std::function<void(const std::string&)> report);

/// Whether the library for CUDA and its provider are there. Errors, kInvalidInput: the missing file, with the command
/// that gets it.
[[nodiscard]] Result<void> check_cuda_provider(const serving::ServeRequest& request);

}  // namespace berth::serve
