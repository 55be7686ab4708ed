/// Plans: the boxes to buy, and the pods in each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "purchase/advise/detail/problem.h"

namespace berth::purchase::advise {

/// One instance of a plan.
struct Filled {
  std::size_t box = 0;
  std::vector<std::size_t> rows;
};
using Plan = std::vector<Filled>;

[[nodiscard]] std::int64_t cost_of(const Problem& problem, const Plan& plan);

/// The cheapest of the choices that holds these pods together; nothing if none is found.
[[nodiscard]] std::optional<std::size_t> cheapest_holder(const Problem& problem, const std::vector<std::size_t>& rows);

}  // namespace berth::purchase::advise
