/// Value or Error: returned by every function that can get bad input (STYLE 5.1).
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace berth {

/// The kind of a failure, on which the exit status of the program depends.
enum class ErrorCode {
  kInvalidInput,  ///< The user's file or option is wrong; nothing was changed.
  kMalformed,     ///< The input cannot be parsed at all: it is not JSON.
  kNotFound,      ///< A requested file or name does not exist.
  kUnavailable,   ///< The environment failed (disk full, device missing).
  kInterrupted,   ///< The user asked to stop.
  kNoServer,      ///< No server answers at the address: refused, unreachable, unknown host.
  kTimedOut,      ///< A server did not answer in time.
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
