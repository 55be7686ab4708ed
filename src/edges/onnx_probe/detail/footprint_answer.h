/// What the process that loads a model answers to the one that started it.
#pragma once

#include <cstdint>

#include "base/core/result.h"

namespace berth::edges::detail {

inline constexpr int kAnswerDescriptor = 3;

/// As bytes of base/core/archive.h: both sides are the same program.
struct FootprintAnswer {
  bool is_measured = false;
  ErrorCode error = ErrorCode::kUnavailable;  ///< otherwise
  std::string message = {};
  std::int64_t load_us = 0;
  std::int64_t loaded_bytes = 0;
  std::int64_t run_bytes = 0;
};

}  // namespace berth::edges::detail
