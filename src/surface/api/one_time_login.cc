#include "surface/api/one_time_login.h"

#include <cstddef>

namespace berth::api {

bool is_same_secret(std::string_view given, std::string_view secret) {
  unsigned char difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char of_secret = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned char>(given[i] ^ of_secret);
  }
  return difference == 0;
}

std::optional<std::string> OneTimeLogin::exchange(std::string_view token, Micros age) {
  if (token_.empty() || !is_same_secret(token, token_) || age > kLifetime) return std::nullopt;
  if (is_exchanged_.exchange(true)) return std::nullopt;
  return key_;
}

bool OneTimeLogin::accepts(std::string_view key) const { return is_exchanged_ && is_same_secret(key, key_); }

}  // namespace berth::api
