/// The library of ONNX Runtime for programs of other users.
#pragma once

#include <string>

#include "base/core/result.h"

namespace berth::edges {

/// A path of the library that every user can read: `library` itself, or a copy of it and of the files of ONNX Runtime
/// beside it in `folder`, made once and again when it changed. Error: it cannot be read or copied.
[[nodiscard]] Result<std::string> readable_engine(const std::string& library, const std::string& folder);

}  // namespace berth::edges
