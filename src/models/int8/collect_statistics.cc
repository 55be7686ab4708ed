#include "models/int8/collect_statistics.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <fmt/core.h>

#include "models/probing/observe.h"

namespace berth::models {
namespace {

std::vector<float> values_of(const Tensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace

Result<CalibrationStatistics> collect_statistics(ModelProbe& probe, const Model& model, const RowSet& rows,
                                                 const std::vector<std::string>& values, std::size_t batch_rows) {
  CalibrationStatistics statistics;
  for (const std::string& value : values) {
    for (StatisticsByValue& half : statistics.halves) half[value];
  }
  std::size_t batch_count = 0;
  std::size_t batch = 0;  // rows are shown from the first one on, and again for other values
  const Visit visit = [&](std::size_t row_first, std::span<const Tensor> tensors) -> Result<void> {
    batch = row_first == 0 ? 0 : batch + 1;
    StatisticsByValue& of_rows = statistics.halves[batch % 2];
    batch_count = std::max(batch_count, batch + 1);
    for (const Tensor& tensor : tensors) {
      if (tensor.type != TensorType::kFp32) {
        return invalid(fmt::format("value {}: wanted FP32, found {}", tensor.name, name_of(tensor.type)));
      }
      of_rows[tensor.name].add(values_of(tensor));
    }
    return {};
  };
  const Result<void> observed = observe(probe, model, rows, {.values = values, .batch_rows = batch_rows}, visit);
  if (!observed) return pass_on(observed.error());
  if (batch_count == 1) statistics.halves[1] = statistics.halves[0];
  statistics.all = statistics.halves[0];
  if (batch_count == 1) return statistics;
  for (const auto& [value, of_value] : statistics.halves[1]) statistics.all[value].merge(of_value);
  return statistics;
}

}  // namespace berth::models
