/// A login without the key of the API: the address that `berth up` prints carries a token, and the page exchanges it
/// once for a key that is valid while this process runs. Whoever finds the printed line later gets nothing with it.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/core/instant.h"

namespace berth::api {

/// Compares without revealing through timing how much of a wrong secret is right.
[[nodiscard]] bool is_same_secret(std::string_view given, std::string_view secret);

class OneTimeLogin {
 public:
  /// How long the token is valid, from the moment at which it was made.
  static constexpr Micros kLifetime = Micros::seconds(600);

  /// Both are random and unguessable. With an empty token there is no such login.
  OneTimeLogin(std::string token, std::string key) : token_(std::move(token)), key_(std::move(key)) {}

  /// The key, if this is the token, it was not exchanged before, and its age is at most kLifetime. A wrong token does
  /// not use it up. Any thread may call it: of several calls with the token one gets the key.
  [[nodiscard]] std::optional<std::string> exchange(std::string_view token, Micros age);
  /// Whether this is the key, and somebody has it.
  [[nodiscard]] bool accepts(std::string_view key) const;

 private:
  std::string token_;
  std::string key_;
  std::atomic<bool> is_exchanged_ = false;
};

}  // namespace berth::api
