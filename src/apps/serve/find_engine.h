/// The engine that runs the models.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/core/result.h"
#include "domain/ports/model_engine.h"
#include "serving/config/serve_request.h"

namespace berth::serve {

/// Opens the library that the request names, or the one where scripts/setup puts it. `report`: what the engine says to
/// the operator. Errors, kInvalidInput: there is none, with the command that gets it; this program was built without
/// its headers.
[[nodiscard]] Result<std::unique_ptr<ModelEngine>> find_engine(const serving::ServeRequest& request,
                                                               std::function<void(const std::string&)> report);

}  // namespace berth::serve
