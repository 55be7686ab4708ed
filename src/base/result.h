/// Value or Error: what every function that can meet bad input returns (STYLE 5.1).
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace berth {

/// What kind of failure it was: the exit status of the program and the status of the API hang on it.
enum class ErrorCode {
  kInvalidInput,  ///< The user's file or option is wrong; nothing was changed.
  kNotFound,      ///< A file or name that was asked for does not exist.
  kUnavailable,   ///< The outside world failed (disk full, device missing).
  kInterrupted,   ///< The user asked to stop.
};

/// A failure in one message: what was wanted, what was found, and where.
struct Error {
  ErrorCode code = ErrorCode::kInvalidInput;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = tl::expected<T, Error>;

/// The failure side of a Result.
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// Bad input, the most frequent failure.
[[nodiscard]] inline tl::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::kInvalidInput, std::move(message));
}

/// Passes the error of one Result on as the error of another.
[[nodiscard]] inline tl::unexpected<Error> pass_on(const Error& error) { return tl::unexpected<Error>(error); }

}  // namespace berth
