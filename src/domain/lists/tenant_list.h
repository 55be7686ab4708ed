/// Tenants and their shares of a pool of GPUs: a tree, as CSV.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth {

/// A tenant, or a group of them.
struct ListedTenant {
  std::string name = {};
  std::optional<std::size_t> parent = std::nullopt;  ///< its index in the list; absent: the root
  std::int64_t guaranteed = 0;                       ///< GPUs that it gets back when it needs them
  std::optional<std::int64_t> limit = std::nullopt;  ///< the most that it may run on; absent: none
  std::int64_t weight = 1;
  friend bool operator==(const ListedTenant&, const ListedTenant&) = default;
};

/// The columns `tenant,parent,guaranteed,limit,weight`, in any order. Errors, as FILE:LINE:COLUMN: unreadable fields, a
/// repeated name, a parent that is not in the list, a cycle, a limit below the guarantee, guarantees whose sum exceeds
/// that of their parent, or, at the top, the GPUs of the pool.
[[nodiscard]] Result<std::vector<ListedTenant>> read_tenants(std::string_view text, std::string_view file,
                                                             std::int64_t gpus);

}  // namespace berth
