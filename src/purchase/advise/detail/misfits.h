/// Pods that no offer holds.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/core/result.h"
#include "domain/lists/pod_list.h"
#include "purchase/advise/detail/problem.h"
#include "purchase/pricing/offer.h"

namespace berth::purchase::advise {

/// An error for pods that no box holds: the place of the first one in `file`, a list with a header, what it wants and
/// what the nearest offer has; behind it the names of others, up to kMisfitsNamedMax. Also if nothing can be bought at
/// all.
[[nodiscard]] Result<void> check_each_fits(std::span<const Pod> pods, std::span<const pricing::Offer> offers,
                                           const Problem& problem, std::string_view file);

inline constexpr std::size_t kMisfitsNamedMax = 5;

}  // namespace berth::purchase::advise
