#include "models/optimize/loss_figures.h"

namespace berth::models {

Result<LossFigure> loss_figure(Metric metric, const ComparedOutputs& compared, double max_loss) {
  const auto labels = metric == Metric::kAccuracy ? compared.labels : std::span<const std::int64_t>();
  const auto loss = loss_of(metric, compared.original, compared.variant, labels);
  if (!loss) return pass_on(loss.error());
  LossFigure figure = {.loss = {.value = loss->loss, .low = loss->low, .high = loss->high},
                       .rows = static_cast<std::int64_t>(loss->rows)};
  if (metric != Metric::kError) figure.score = loss->variant;
  const auto needed = rows_needed(*loss, max_loss);
  if (needed && *needed > loss->rows) figure.rows_wanted = static_cast<std::int64_t>(*needed);
  return figure;
}

}  // namespace berth::models
