/// The cheapest instances as text for people.
#pragma once

#include <string>

#include "purchase/advise/verdict.h"

namespace berth::cli {

/// Equal instances share a row.
[[nodiscard]] std::string advise_table(const purchase::advise::AdviceCase& advice_case, bool has_colour);

}  // namespace berth::cli
