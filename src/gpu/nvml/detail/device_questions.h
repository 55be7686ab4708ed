/// Questions to one device whose answers may be missing.
#pragma once

#include <string_view>

#include "gpu/nvml_abi/abi.h"

namespace berth::edges::detail {

/// Asks no more once the GPU turned out to be lost.
class DeviceQuestions {
 public:
  explicit DeviceQuestions(nvml_abi::Device device) : device_(device) {}

  /// Whether the function exists and has answered.
  template <class Function, class... Arguments>
  bool has_answered(std::string_view name, Function function, Arguments... arguments) {
    if (function == nullptr || !lost_at_.empty()) return false;
    const nvml_abi::Code code = function(device_, arguments...);
    if (code == nvml_abi::Code::kGpuIsLost) lost_at_ = name;
    return code == nvml_abi::Code::kSuccess;
  }

  [[nodiscard]] nvml_abi::Device device() const { return device_; }
  /// The call that found the GPU lost; empty: it is not.
  [[nodiscard]] std::string_view lost_at() const { return lost_at_; }

 private:
  nvml_abi::Device device_;
  std::string_view lost_at_ = {};
};

}  // namespace berth::edges::detail
