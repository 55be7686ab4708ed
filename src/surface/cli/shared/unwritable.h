/// The error of an output.
#pragma once

#include "base/core/result.h"

namespace berth::cli {

/// An output that cannot be written is a failure of the environment (status 1), whatever the code of the error.
[[nodiscard]] inline tl::unexpected<Error> unwritable(const Error& error) {
  return fail(ErrorCode::kUnavailable, error.message);
}

}  // namespace berth::cli
