/// Whose request it is, by the key that comes with it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serving/config/serve_config.h"
#include "serving/dispatch/request.h"

namespace berth::serving {

/// Immutable: any thread may use it.
class TenantKeys {
 public:
  /// Without tenants there is one, `default`, whose key is anything or nothing.
  explicit TenantKeys(std::span<const ConfiguredTenant> tenants);

  /// In the order of their indices.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool are_needed() const { return !keys_.empty(); }

  /// `authorization` is the field of that name, "Bearer KEY". Nothing if it is not the key of a tenant. The time does
  /// not depend on how much of a key is right. O(tenants).
  [[nodiscard]] std::optional<TenantIndex> tenant_of(std::optional<std::string_view> authorization) const;

 private:
  using Digest = std::array<unsigned char, 32>;

  std::vector<std::string> names_;
  std::vector<std::optional<Digest>> keys_;  ///< of each tenant; those without cannot call; empty: no keys are needed
};

}  // namespace berth::serving
