/// The outcome of a verb that talks to a server: its text, its messages and its exit status.
#pragma once

#include <string>
#include <utility>

#include "base/core/result.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// Exit statuses of these verbs; 0: done.
enum class ClientStatus : int {
  kFailed = 1,
  kBadInput = 2,  ///< wrong words or input
  kNotFound = 3,
  kNotAllowed = 4,
  kConflict = 5,
  kTimedOut = 6,
  kNoServer = 7,  ///< no server, or unavailable now
};

struct ClientError {
  ClientStatus status = ClientStatus::kFailed;
  std::string message;  ///< without "berth: "; may have several lines
  friend bool operator==(const ClientError&, const ClientError&) = default;
};

template <class T>
using ClientResult = tl::expected<T, ClientError>;

[[nodiscard]] inline tl::unexpected<ClientError> client_fail(ClientStatus status, std::string message) {
  return tl::unexpected<ClientError>(ClientError{status, std::move(message)});
}
[[nodiscard]] inline tl::unexpected<ClientError> client_fail(const ClientError& error) {
  return tl::unexpected<ClientError>(error);
}
/// The error for a local failure: wrong words, and files that cannot be read.
[[nodiscard]] inline tl::unexpected<ClientError> bad_input(const Error& error) {
  return client_fail(ClientStatus::kBadInput, error.message);
}

/// What a verb prints. If objects have different outcomes, `out` has those that succeeded, `err` the others.
struct VerbOutcome {
  std::string out;
  std::string err;  ///< whole lines
  int status = 0;

  /// Adds an error; the status is that of the first one.
  void add(const ClientError& error);
};

/// The outcome of a verb that has one answer.
[[nodiscard]] VerbOutcome outcome_of(const ClientResult<std::string>& answer);

/// Prints an outcome and leaves its status in the context.
void print_outcome(VerbContext& context, VerbOutcome outcome);

}  // namespace berth::cli
