#include "models/probing/run_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/core/ensure.h"
#include "models/rows/rows_for.h"

namespace berth::models {
namespace {

/// Leaves the first `wanted` of the `found` rows that a batch was filled up to.
void keep_first_rows(Tensor& output, std::size_t wanted, std::size_t found) {
  output.shape[0] = static_cast<std::int64_t>(wanted);
  output.bytes.resize(output.bytes.size() / found * wanted);
  output.texts.resize(output.texts.size() / found * wanted);
}

/// Adds the rows of a batch to those before.
Result<void> append_rows(Tensor& all, Tensor batch) {
  if (all.shape.empty()) {
    all = std::move(batch);
    return {};
  }
  if (!std::equal(all.shape.begin() + 1, all.shape.end(), batch.shape.begin() + 1, batch.shape.end())) {
    return invalid(fmt::format("output {}: wanted rows of one size, found some of others", batch.name));
  }
  all.shape[0] += batch.shape[0];
  all.bytes += batch.bytes;
  all.texts.insert(all.texts.end(), std::make_move_iterator(batch.texts.begin()),
                   std::make_move_iterator(batch.texts.end()));
  return {};
}

std::vector<std::string> names_of(std::span<const TensorSignature> signatures) {
  std::vector<std::string> names;
  names.reserve(signatures.size());
  for (const TensorSignature& signature : signatures) names.push_back(signature.name);
  return names;
}

}  // namespace

Result<std::vector<Tensor>> run_rows(ProbedModel& model, const RowSet& rows, std::size_t batch_rows) {
  ENSURE(rows.count > 0 && batch_rows > 0);
  const auto fixed = fixed_rows(model.inputs(), rows);
  const std::vector<std::string> wanted = names_of(model.outputs());
  std::vector<Tensor> all(wanted.size());
  const std::size_t step = fixed.value_or(batch_rows);
  for (std::size_t first = 0; first < rows.count; first += step) {
    const std::size_t kept = std::min(step, rows.count - first);
    const std::size_t size = fixed ? step : kept;
    auto outputs = model.run(batch_of(rows, first, size), wanted);
    if (!outputs) return pass_on(outputs.error());
    for (std::size_t i = 0; i < outputs->size(); ++i) {
      Tensor& output = (*outputs)[i];
      if (rows.rows_are_runs) output.shape.insert(output.shape.begin(), 1);
      if (output.shape.empty() || output.shape[0] != static_cast<std::int64_t>(size)) {
        return invalid(
            fmt::format("output {}: wanted a row for each of {} rows, found the shape {}; where a run as a whole has "
                        "an answer, the data must be runs: arrays with one dimension more, in front",
                        output.name, size, shape_text(output.shape)));
      }
      keep_first_rows(output, kept, size);
      if (auto added = append_rows(all[i], std::move(output)); !added) return pass_on(added.error());
    }
  }
  return all;
}

}  // namespace berth::models
