#include "models/int8/collect_statistics.h"

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

Result<StatisticsByValue> collect_statistics(ModelProbe& probe, const Model& model, const RowSet& rows,
                                             const std::vector<std::string>& values, std::size_t batch_rows) {
  StatisticsByValue statistics;
  for (const std::string& value : values) statistics[value];
  const Visit visit = [&](std::size_t, std::span<const Tensor> tensors) -> Result<void> {
    for (const Tensor& tensor : tensors) {
      if (tensor.type != TensorType::kFp32) {
        return invalid(fmt::format("value {}: wanted FP32, found {}", tensor.name, name_of(tensor.type)));
      }
      statistics[tensor.name].add(values_of(tensor));
    }
    return {};
  };
  const Result<void> observed = observe(probe, model, rows, {.values = values, .batch_rows = batch_rows}, visit);
  if (!observed) return pass_on(observed.error());
  return statistics;
}

}  // namespace berth::models
