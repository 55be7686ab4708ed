// Any bytes give a tree of tenants, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/lists/tenant_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const auto tenants = read_tenants({reinterpret_cast<const char*>(bytes), size}, "fuzz", 64);
  if (!tenants) {
    ENSURE(tenants.error().message.starts_with("fuzz"));
    return 0;
  }
  for (const ListedTenant& tenant : *tenants) {
    std::size_t depth = 0;
    for (std::optional<std::size_t> at = tenant.parent; at; at = (*tenants)[*at].parent) {
      ENSURE(*at < tenants->size() && ++depth <= tenants->size());
    }
    ENSURE(tenant.guaranteed <= tenant.limit.value_or(tenant.guaranteed) && tenant.weight >= 1);
  }
  return 0;
}
