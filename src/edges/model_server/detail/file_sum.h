/// The sum of a model's file.
#pragma once

#include <optional>
#include <string>

#include "domain/ports/model_engine.h"

namespace berth::edges::detail {

/// The SHA-256 of the file's content, as 64 hexadecimal digits; nothing if it cannot be read or does not have the stamp
/// of `file`. Takes 0.4 s for 100 MB.
[[nodiscard]] std::optional<std::string> sha256_of(const ModelFile& file);

}  // namespace berth::edges::detail
