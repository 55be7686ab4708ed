/// The figures of `berth advise`.
#pragma once

#include "purchase/advise/verdict.h"
#include "surface/figures/figure_table.h"

namespace berth::figures {

/// The cost of all instances together: Berth's, a row for each rival, and the bound. The JSON has the rivals alone.
[[nodiscard]] FigureTable advise_costs(const purchase::advise::Advice& advice);

/// A row for each offer that is rented, and what the pods take of its instances; not for the JSON, which has each
/// instance.
[[nodiscard]] FigureTable advise_offers(const purchase::advise::AdviceCase& advice_case);

}  // namespace berth::figures
