/// The figures of `berth advise`.
#pragma once

#include "purchase/advise/verdict.h"
#include "surface/figures/figure_table.h"

namespace berth::figures {

/// The cost of all instances together: Berth's, a row for each rival, and the bound. The JSON has only the rivals.
[[nodiscard]] FigureTable advise_costs(const purchase::advise::Advice& advice);

/// A row for each rented offer, with the shares of its instances that the pods take; not for the JSON, which lists each
/// instance.
[[nodiscard]] FigureTable advise_offers(const purchase::advise::AdviceCase& advice_case);

}  // namespace berth::figures
