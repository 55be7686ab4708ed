#include "surface/cli/commit/commit_json.h"

#include "base/json/value.h"
#include "surface/figures/commit_figures.h"

namespace berth::cli {

std::string commit_json(const purchase::CommitComparison& comparison) {
  return json::Value(json::Value::Object{{"berth", 1},
                                         {"hours", comparison.demand.size()},
                                         {"policies", figures::json_rows(figures::commit_figures(comparison))}})
      .to_line();
}

}  // namespace berth::cli
