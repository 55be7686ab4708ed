/// The port that reads GPUs, implemented with the functions of an NVML library.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "gpu/nvml/detail/activity_meter.h"
#include "gpu/nvml/detail/event_watch.h"
#include "gpu/nvml/detail/functions.h"
#include "gpu/nvml/detail/gpu_reading.h"
#include "gpu/nvml/detail/process_users.h"

namespace berth::edges::detail {

struct FoundGpu;

/// Unloads the library; for the handle returned by `dlopen`.
struct Unload {
  void operator()(void* library) const;
};
using LoadedLibrary = std::unique_ptr<void, Unload>;

/// The library is initialised once, for the lifetime of this object: another init would invalidate all handles. It does
/// not survive a fork: in the child the library is not initialised.
///
/// No lock is held while the library is called, except during the first wait on a GPU, where it blocks only other waits
/// on it. `list` queries each GPU in a separate thread, and leaves behind those that get no answer in time: they share
/// ownership of the state that they need.
class NvmlGpuLibrary final : public GpuLibrary {
 public:
  /// `library` has been initialised, and is shut down at the end. `path`: where it was found.
  NvmlGpuLibrary(LoadedLibrary library, const Functions& functions, std::string path);
  ~NvmlGpuLibrary() override;

  [[nodiscard]] GpuAnswer<std::uint32_t> count() const;

  // For the changer of these GPUs.
  [[nodiscard]] void* loaded() const { return library_.get(); }
  [[nodiscard]] const Functions& functions() const { return functions_; }
  /// The handle of a GPU, as validated by its last reading.
  [[nodiscard]] GpuAnswer<nvml_abi::Device> device_of(const std::string& uuid);
  /// The profile of the compute instance that has all slices of this GPU instance.
  [[nodiscard]] GpuAnswer<std::uint32_t> whole_profile_of(const std::string& uuid, nvml_abi::GpuInstance instance);

  [[nodiscard]] const GpuLibraryFacts& facts() const override { return facts_; }
  [[nodiscard]] GpuAnswer<std::vector<Listed>> list() override;
  [[nodiscard]] GpuAnswer<GpuReading> read(const std::string& uuid) override;
  [[nodiscard]] GpuAnswer<GpuMeasurement> measure(const std::string& uuid) override;
  [[nodiscard]] GpuAnswer<GpuFigures> figures(const std::string& uuid,
                                              const std::vector<GpuInstanceSeen>& instances) override;
  [[nodiscard]] GpuAnswer<std::optional<GpuNotice>> wait(const std::string& uuid, std::int64_t millis_max) override;

 private:
  /// A GPU that was queried. Never removed.
  struct Known {
    explicit Known(const Functions& functions) : events(functions) {}
    std::mutex mutex;                   ///< for the next three
    nvml_abi::Device device = nullptr;  ///< never null once found
    KnownProfiles profiles;
    std::unique_ptr<ActivityMeter> meter;  ///< null at first, and while it is in use
    EventWatch events;
  };

  /// Records the answer of a GPU, and returns it as listed.
  [[nodiscard]] Listed note(std::uint32_t index, FoundGpu found);
  [[nodiscard]] std::string uuid_at(std::uint32_t index);
  /// The GPU; looked up if not known yet.
  [[nodiscard]] GpuAnswer<Known*> find(const std::string& uuid);
  /// Looks a GPU up again, even if known: a handle can become invalid.
  [[nodiscard]] GpuAnswer<Known*> look_up(const std::string& uuid);
  [[nodiscard]] Known& remember(const std::string& uuid, nvml_abi::Device device);
  [[nodiscard]] GpuAnswer<GpuReading> read_once(Known& gpu);
  static void learn(Known& gpu, KnownProfiles profiles);

  std::shared_ptr<void> library_;  ///< shut down and unloaded after its last user, including threads left behind
  Functions functions_;
  GpuLibraryFacts facts_;
  ProcessUsers users_;
  std::mutex mutex_;                                    ///< for the next two
  std::map<std::string, std::unique_ptr<Known>> gpus_;  ///< by UUID
  std::map<std::uint32_t, std::string> uuids_;          ///< by index
};

}  // namespace berth::edges::detail
