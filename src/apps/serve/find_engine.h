/// The engine that runs the models.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/core/result.h"
#include "domain/ports/model_engine.h"
#include "serving/config/serve_request.h"

namespace berth::serve {

/// Opens the library that the request names, or the one where scripts/setup puts it. `run_bytes_max`: as
/// edges::OnnxEngineOptions. `report`: what the engine says to the operator. Errors, kInvalidInput: there is none, with the command that gets it; this program was built without its
/// headers.
[[nodiscard]] Result<std::unique_ptr<ModelEngine>> find_engine(const serving::ServeRequest& request,
                                                               std::int64_t run_bytes_max,
                                                               std::function<void(const std::string&)> report);

}  // namespace berth::serve
