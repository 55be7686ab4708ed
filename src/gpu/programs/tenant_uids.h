/// The users that tenants' programs run as: a tenant keeps its uid for ever.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "gpu/programs/program_rules.h"

namespace berth::programs {

class TenantUids {
 public:
  /// The tenant's uid: the one that it has, or the first free one of the range. Error (kUnavailable): none is left,
  /// or its own is outside the range.
  [[nodiscard]] Result<std::int64_t> uid_of(const std::string& tenant, const UidRange& range);

  /// As a file, and back. Error: it is not one; two tenants have the same uid.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static Result<TenantUids> read(std::string_view text, const std::string& path);

  friend bool operator==(const TenantUids&, const TenantUids&) = default;

 private:
  std::map<std::string, std::int64_t> uids_;
};

}  // namespace berth::programs
