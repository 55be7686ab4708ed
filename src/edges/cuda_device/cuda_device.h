/// A CUDA device of this machine: its name and its free memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/core/result.h"

namespace berth::edges {

class CudaDevice {
 public:
  static constexpr const char* kDriver = "libcuda.so.1";

  /// Device `index` of those that CUDA_VISIBLE_DEVICES lets this process see. Keeps the device's context until the end
  /// of the object: ONNX Runtime uses the same one, so its memory is not free from the start. Errors, kInvalidInput: no
  /// driver, no such device, with the driver's message.
  [[nodiscard]] static Result<std::unique_ptr<CudaDevice>> open(int index, const std::string& driver_path = kDriver);
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice();

  [[nodiscard]] int index() const { return index_; }
  /// Such as "NVIDIA H100 80GB HBM3 MIG 1g.10gb".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Bytes, of the device or the slice, whoever takes the rest. Any thread. Errors: kUnavailable, with the driver's
  /// message.
  [[nodiscard]] Result<std::int64_t> free_bytes() const;

 private:
  struct Driver;

 public:
  /// Only for `open`: nobody else has a driver.
  CudaDevice(std::unique_ptr<Driver> driver, int index);

 private:
  [[nodiscard]] Result<void> start();

  std::unique_ptr<Driver> driver_;
  int index_;
  int device_ = 0;
  void* context_ = nullptr;
  std::string name_;
};

}  // namespace berth::edges
