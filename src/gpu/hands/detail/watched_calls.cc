#include "gpu/hands/detail/watched_calls.h"

namespace berth::edges::detail {
namespace {

/// Records a call for its duration.
class Noted {
 public:
  Noted(CallNote& note, const char* call) : note_(note) { note_.set(call); }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  ~Noted() { note_.set(""); }

 private:
  CallNote& note_;
};

}  // namespace

void CallNote::set(const char* call) {
  const std::scoped_lock hold(mutex_);
  call_ = call;
}

std::string CallNote::get() const {
  const std::scoped_lock hold(mutex_);
  return call_;
}

GpuAnswer<std::vector<GpuLibrary::Listed>> WatchedLibrary::list() {
  const Noted noted(note_, "listing the GPUs");
  return library_.list();
}

GpuAnswer<GpuReading> WatchedLibrary::read(const std::string& uuid) {
  const Noted noted(note_, "reading the GPU");  // a reading consists of many calls
  return library_.read(uuid);
}

GpuAnswer<GpuMeasurement> WatchedLibrary::measure(const std::string& uuid) {
  const Noted noted(note_, "measuring the GPU");
  return library_.measure(uuid);
}

GpuAnswer<std::optional<GpuNotice>> WatchedLibrary::wait(const std::string& uuid, std::int64_t millis_max) {
  const Noted noted(note_, "nvmlEventSetWait_v2");
  return library_.wait(uuid, millis_max);
}

GpuAnswer<std::uint32_t> WatchedChanger::create_gpu_instance(const std::string& uuid, std::uint32_t profile_id,
                                                             int start, int length) {
  const Noted noted(note_, "nvmlDeviceCreateGpuInstanceWithPlacement");
  return changer_.create_gpu_instance(uuid, profile_id, start, length);
}

GpuAnswer<std::uint32_t> WatchedChanger::create_compute_instance(const std::string& uuid, std::uint32_t gpu_instance) {
  const Noted noted(note_, "nvmlGpuInstanceCreateComputeInstance");
  return changer_.create_compute_instance(uuid, gpu_instance);
}

GpuAnswer<void> WatchedChanger::destroy_compute_instance(const std::string& uuid, std::uint32_t gpu_instance,
                                                         std::uint32_t id) {
  const Noted noted(note_, "nvmlComputeInstanceDestroy");
  return changer_.destroy_compute_instance(uuid, gpu_instance, id);
}

GpuAnswer<void> WatchedChanger::destroy_gpu_instance(const std::string& uuid, std::uint32_t id) {
  const Noted noted(note_, "nvmlGpuInstanceDestroy");
  return changer_.destroy_gpu_instance(uuid, id);
}

GpuAnswer<ModeChange> WatchedChanger::set_mig_mode(const std::string& uuid, bool is_on) {
  const Noted noted(note_, "nvmlDeviceSetMigMode");
  return changer_.set_mig_mode(uuid, is_on);
}

}  // namespace berth::edges::detail
