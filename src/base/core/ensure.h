/// ENSURE(condition): programmer errors end the program, in release builds too (STYLE 5.3).
#pragma once

namespace berth::detail {

/// Prints the violated condition with its position and aborts.
[[noreturn]] void ensure_failed(const char* condition, const char* file, int line);

}  // namespace berth::detail

/// States a condition that must hold here. Never for external input: that gets an Error.
#define ENSURE(condition) \
  ((condition) ? static_cast<void>(0) : ::berth::detail::ensure_failed(#condition, __FILE__, __LINE__))
