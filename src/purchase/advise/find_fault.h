/// The checker of an answer. It shares no code with the search.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "domain/lists/pod_list.h"
#include "purchase/advise/advice.h"
#include "purchase/pricing/offer.h"

namespace berth::purchase::advise {

/// The first thing that is wrong: an offer that is not among `offers` or cannot be bought, CPU, memory or a GPU used
/// beyond its capacity, a GPU that does not exist, a model or a GPU memory that a pod does not accept, a pod without a
/// place or with two, a sum that is not the instances', a bound above the cost, or a rival that is cheaper. Nothing if
/// all is well.
[[nodiscard]] std::optional<std::string> find_fault(std::span<const Pod> pods, std::span<const pricing::Offer> offers,
                                                    const Advice& advice);

}  // namespace berth::purchase::advise
