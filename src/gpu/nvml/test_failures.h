/// Failures as values, for tests.
#pragma once

#include "domain/ports/gpu_library.h"

namespace berth::edges {

/// The failure in an answer that should have failed.
template <class T>
[[nodiscard]] GpuCallFailure failure_of(const GpuAnswer<T>& answer) {
  if (!answer) return answer.error();
  return {.call = "none", .code = 0, .code_name = "none"};
}

}  // namespace berth::edges
