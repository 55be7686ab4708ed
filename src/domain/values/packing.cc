#include "domain/values/packing.h"

#include <algorithm>

namespace berth {

const PerformanceTable* PackingProblem::table_of(const std::string& model) const {
  const auto found = std::ranges::lower_bound(tables, model, {}, &PerformanceTable::model);
  return found != tables.end() && found->model == model ? &*found : nullptr;
}

}  // namespace berth
