/// Reading many values of which each may be wrong, without an `if` after each.
#pragma once

#include <optional>
#include <utility>

#include "base/core/result.h"

namespace berth {

/// Takes values out of results and keeps the first failure; after it every value is T().
class FirstError {
 public:
  /// The value, or T() if it failed.
  template <class T>
  [[nodiscard]] T take(Result<T> result) {
    if (result) return std::move(*result);
    note(std::move(result.error()));
    return T();
  }
  /// For checks that yield no value.
  void check(Result<void> result) {
    if (!result) note(std::move(result.error()));
  }

  /// Whether nothing has failed so far.
  [[nodiscard]] bool is_clear() const { return !error_; }
  /// Requires: something failed.
  [[nodiscard]] tl::unexpected<Error> passed_on() const { return tl::unexpected<Error>(error_.value()); }

 private:
  void note(Error error) {
    if (!error_) error_ = std::move(error);
  }

  std::optional<Error> error_;
};

}  // namespace berth
