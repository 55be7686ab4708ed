#include "edges/cuda_device/cuda_device.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace berth::edges {

/// The driver's functions (cuda.h), as far as they are needed. Results are 0 or the number of an error.
struct CudaDevice::Driver {
  int (*init)(unsigned flags) = nullptr;
  int (*error_text)(int error, const char** text) = nullptr;
  int (*device_count)(int* count) = nullptr;
  int (*device_get)(int* device, int index) = nullptr;
  int (*device_name)(char* name, int bytes, int device) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*release)(int device) = nullptr;
  int (*push)(void* context) = nullptr;
  int (*pop)(void** context) = nullptr;
  int (*memory)(std::size_t* free, std::size_t* total) = nullptr;

  [[nodiscard]] std::string message(int error) const {
    const char* text = nullptr;
    if (error_text(error, &text) != 0 || text == nullptr) return fmt::format("error {}", error);
    return fmt::format("error {}, {}", error, text);
  }
};

namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

std::string visible_devices() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? "" : fmt::format(" (CUDA_VISIBLE_DEVICES={})", visible);
}

}  // namespace

CudaDevice::CudaDevice(std::unique_ptr<Driver> driver, int index) : driver_(std::move(driver)), index_(index) {}

CudaDevice::~CudaDevice() {
  if (context_ != nullptr) driver_->release(device_);
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(int index, const std::string& driver_path) {
  void* library = ::dlopen(driver_path.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open: drivers start threads
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return invalid(fmt::format("cuda:{}: wanted the driver of NVIDIA, {}, found {}", index, driver_path,
                               reason != nullptr ? reason : "none"));
  }
  auto driver = std::make_unique<Driver>();
  const bool is_whole =
      find(library, "cuInit", driver->init) && find(library, "cuGetErrorString", driver->error_text) &&
      find(library, "cuDeviceGetCount", driver->device_count) && find(library, "cuDeviceGet", driver->device_get) &&
      find(library, "cuDeviceGetName", driver->device_name) &&
      find(library, "cuDevicePrimaryCtxRetain", driver->retain) &&
      find(library, "cuDevicePrimaryCtxRelease_v2", driver->release) &&
      find(library, "cuCtxPushCurrent_v2", driver->push) && find(library, "cuCtxPopCurrent_v2", driver->pop) &&
      find(library, "cuMemGetInfo_v2", driver->memory);
  if (!is_whole) return invalid(fmt::format("cuda:{}: wanted the driver of NVIDIA, found {}", index, driver_path));
  auto device = std::make_unique<CudaDevice>(std::move(driver), index);
  if (auto started = device->start(); !started) return pass_on(started.error());
  return device;
}

Result<void> CudaDevice::start() {
  const auto refuse = [&](int error) {
    return invalid(fmt::format("cuda:{}{}: {}", index_, visible_devices(), driver_->message(error)));
  };
  int count = 0;
  if (const int error = driver_->init(0); error != 0) return refuse(error);
  if (const int error = driver_->device_count(&count); error != 0) return refuse(error);
  if (index_ >= count) {
    return invalid(
        fmt::format("cuda:{}{}: wanted one of {} devices, from cuda:0 on", index_, visible_devices(), count));
  }
  if (const int error = driver_->device_get(&device_, index_); error != 0) return refuse(error);
  std::array<char, 256> name{};
  if (const int error = driver_->device_name(name.data(), name.size() - 1, device_); error != 0) return refuse(error);
  name_ = name.data();
  if (const int error = driver_->retain(&context_, device_); error != 0) {
    context_ = nullptr;
    return refuse(error);
  }
  return {};
}

Result<std::int64_t> CudaDevice::free_bytes() const {
  const auto refuse = [&](int error) {
    return fail(ErrorCode::kUnavailable, fmt::format("cuda:{}: {}", index_, driver_->message(error)));
  };
  std::size_t free = 0;
  std::size_t total = 0;
  if (const int error = driver_->push(context_); error != 0) return refuse(error);
  const int error = driver_->memory(&free, &total);
  void* popped = nullptr;
  driver_->pop(&popped);
  if (error != 0) return refuse(error);
  return static_cast<std::int64_t>(free);
}

}  // namespace berth::edges
