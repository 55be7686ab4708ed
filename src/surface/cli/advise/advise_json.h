/// The cheapest instances as JSON.
#pragma once

#include <string>

#include "purchase/advise/advice.h"

namespace berth::cli {

[[nodiscard]] std::string advise_json(const purchase::advise::Advice& advice);

}  // namespace berth::cli
