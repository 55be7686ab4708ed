/// The weights in an ONNX file: how many bytes they take, and in which other files they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/onnx_file/detail/wire_reader.h"
#include "models/onnx_file/onnx_file.h"

namespace berth::models::detail {

class WeightCount {
 public:
  explicit WeightCount(WireSource& source) : source_(source) {}

  /// A message TensorProto.
  void add_tensor(Extent tensor);
  /// A message SparseTensorProto.
  void add_sparse_tensor(Extent tensor);

  /// In memory, at most kWeightBytesMax.
  [[nodiscard]] std::int64_t bytes() const { return std::min(bytes_, kWeightBytesMax); }
  [[nodiscard]] std::vector<WeightsFile> files() const;

 private:
  struct Weight;

  [[nodiscard]] Weight read(Extent tensor);
  void read_outside(Extent entry, Weight& weight);
  void add_dimension(std::int64_t size, Weight& weight);
  void add(const Weight& weight);

  WireSource& source_;
  std::int64_t bytes_ = 0;
  std::map<std::string, std::uint64_t> files_;
};

}  // namespace berth::models::detail
