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

/// An error if some pods fit no box: the position of the first one in `file` (a list with a header), its demand and the
/// nearest offer's capacity, then the names of others, up to kMisfitsNamedMax. Also an error if no offer is buyable.
[[nodiscard]] Result<void> check_each_fits(std::span<const Pod> pods, std::span<const pricing::Offer> offers,
                                           const Problem& problem, std::string_view file);

inline constexpr std::size_t kMisfitsNamedMax = 5;

}  // namespace berth::purchase::advise
