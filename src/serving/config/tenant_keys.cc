#include "serving/config/tenant_keys.h"

#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::serving {
namespace {

constexpr std::string_view kScheme = "bearer ";

int digit_value(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

/// The key in a field "Bearer KEY"; the scheme in any case of letters.
std::optional<std::string_view> bearer_key(std::string_view authorization) {
  if (authorization.size() <= kScheme.size()) return std::nullopt;
  const bool is_bearer = std::ranges::equal(authorization.substr(0, kScheme.size()), kScheme, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
  if (!is_bearer) return std::nullopt;
  std::string_view key = authorization.substr(kScheme.size());
  while (key.starts_with(' ')) key.remove_prefix(1);
  while (key.ends_with(' ') || key.ends_with('\t')) key.remove_suffix(1);
  return key;
}

}  // namespace

TenantKeys::TenantKeys(std::span<const ConfiguredTenant> tenants) {
  if (tenants.empty()) names_.emplace_back("default");
  std::vector<ConfiguredTenant> sorted(tenants.begin(), tenants.end());
  std::ranges::sort(sorted, {}, &ConfiguredTenant::name);
  for (const ConfiguredTenant& tenant : sorted) {
    names_.push_back(tenant.name);
    auto& key = keys_.emplace_back();
    if (!tenant.key_sha256) continue;
    ENSURE(tenant.key_sha256->size() == 2 * Digest().size());
    key.emplace();
    for (std::size_t i = 0; i < key->size(); ++i) {
      const char* digits = tenant.key_sha256->data() + 2 * i;
      (*key)[i] = static_cast<unsigned char>(digit_value(digits[0]) * 16 + digit_value(digits[1]));
    }
  }
}

std::optional<TenantIndex> TenantKeys::tenant_of(std::optional<std::string_view> authorization) const {
  if (keys_.empty()) return TenantIndex(0);
  const auto key = authorization ? bearer_key(*authorization) : std::nullopt;
  if (!key) return std::nullopt;
  Digest digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(key->data()), key->size());
  std::optional<TenantIndex> found;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i] && sodium_memcmp(digest.data(), keys_[i]->data(), digest.size()) == 0) {
      found = TenantIndex(static_cast<int>(i));
    }
  }
  return found;
}

}  // namespace berth::serving
