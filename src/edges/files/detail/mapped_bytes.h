/// The bytes of an open file, mapped.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "edges/files/detail/descriptor.h"

namespace berth::edges::detail {

/// Maps the file read-only for the lifetime of the result; the descriptor may be closed. `path` is for the error.
/// Requires: size > 0.
[[nodiscard]] Result<std::unique_ptr<FileBytes>> map_bytes(const Descriptor& file, std::size_t size,
                                                           const std::string& path);

}  // namespace berth::edges::detail
