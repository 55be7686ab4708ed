/// The engine that runs the models.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "domain/ports/model_engine.h"

namespace berth::serve {

/// Opens the library at `path`, or where scripts/setup puts it. Errors, kInvalidInput: there is none, with the command
/// that gets it; this program was built without its headers.
[[nodiscard]] Result<std::unique_ptr<ModelEngine>> find_engine(const std::optional<std::string>& path);

}  // namespace berth::serve
