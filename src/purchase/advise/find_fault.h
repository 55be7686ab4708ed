/// The checker of an answer. It shares no code with the search.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "domain/lists/pod_list.h"
#include "purchase/advise/advice.h"
#include "purchase/pricing/offer.h"

namespace berth::purchase::advise {

/// The first fault: an offer that is not among `offers` or not buyable; CPU, memory or a GPU used beyond capacity; a
/// GPU that does not exist; a GPU model or memory that a pod does not accept; a pod placed on no instance or on two; a
/// total that differs from the sum over instances; a bound above the cost; a cheaper rival. Nothing if the answer is
/// correct.
[[nodiscard]] std::optional<std::string> find_fault(std::span<const Pod> pods, std::span<const pricing::Offer> offers,
                                                    const Advice& advice);

}  // namespace berth::purchase::advise
