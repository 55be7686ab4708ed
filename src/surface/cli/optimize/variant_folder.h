/// Reads what an earlier `berth optimize` wrote.
#pragma once

#include <string>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "models/optimize/manifest.h"

namespace berth::cli {

/// The manifest of the folder. Errors: those of reading it.
[[nodiscard]] Result<models::Manifest> read_variant_folder(const Files& files, const std::string& folder);

}  // namespace berth::cli
