/// The port to the GPUs, by the functions of an NVML library.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "gpu/nvml/detail/event_watch.h"
#include "gpu/nvml/detail/functions.h"
#include "gpu/nvml/detail/gpu_reading.h"

namespace berth::edges::detail {

struct FoundGpu;

/// What `dlopen` returned.
struct Unload {
  void operator()(void* library) const;
};
using LoadedLibrary = std::unique_ptr<void, Unload>;

/// The library is initialised once, for as long as this lives: after another init all handles would be invalid. It does
/// not survive a fork: in the child the library is not initialised.
///
/// No lock is held while the library is called, but for the first wait on a GPU, which only other waits on it need.
/// `list` asks about each GPU in a thread of its own, and leaves behind those that get no answer in time: they own what
/// they need of this.
class NvmlGpuLibrary final : public GpuLibrary {
 public:
  /// `library` has been initialised, and is shut down in the end. `path`: where it was found.
  NvmlGpuLibrary(LoadedLibrary library, const Functions& functions, std::string path);
  ~NvmlGpuLibrary() override;

  [[nodiscard]] GpuAnswer<std::uint32_t> count() const;

  // For who changes these GPUs.
  [[nodiscard]] void* loaded() const { return library_.get(); }
  [[nodiscard]] const Functions& functions() const { return functions_; }
  /// Its handle, which the last reading of the GPU found to be valid.
  [[nodiscard]] GpuAnswer<nvml_abi::Device> device_of(const std::string& uuid);
  /// The profile of the compute instance that has all slices of this GPU instance.
  [[nodiscard]] GpuAnswer<std::uint32_t> whole_profile_of(const std::string& uuid, nvml_abi::GpuInstance instance);

  [[nodiscard]] const GpuLibraryFacts& facts() const override { return facts_; }
  [[nodiscard]] GpuAnswer<std::vector<Listed>> list() override;
  [[nodiscard]] GpuAnswer<GpuReading> read(const std::string& uuid) override;
  [[nodiscard]] GpuAnswer<std::optional<GpuNotice>> wait(const std::string& uuid, std::int64_t millis_max) override;

 private:
  /// A GPU that was asked for. It stays until the end.
  struct Known {
    explicit Known(const Functions& functions) : events(functions) {}
    std::mutex mutex;                   ///< for the next two
    nvml_abi::Device device = nullptr;  ///< never null, once it can be found
    KnownProfiles profiles;
    EventWatch events;
  };

  /// What is known now of a GPU that was asked about.
  [[nodiscard]] Listed note(std::uint32_t index, FoundGpu found);
  [[nodiscard]] std::string uuid_at(std::uint32_t index);
  /// The GPU, which is looked up if it is not known.
  [[nodiscard]] GpuAnswer<Known*> find(const std::string& uuid);
  /// Looks a GPU up, although it is known: a handle can become invalid.
  [[nodiscard]] GpuAnswer<Known*> look_up(const std::string& uuid);
  [[nodiscard]] Known& remember(const std::string& uuid, nvml_abi::Device device);
  [[nodiscard]] GpuAnswer<GpuReading> read_once(Known& gpu) const;
  static void learn(Known& gpu, KnownProfiles profiles);

  std::shared_ptr<void> library_;  ///< shut down and unloaded after the last who uses it, threads left behind too
  Functions functions_;
  GpuLibraryFacts facts_;
  std::mutex mutex_;                                    ///< for the next two
  std::map<std::string, std::unique_ptr<Known>> gpus_;  ///< by UUID
  std::map<std::uint32_t, std::string> uuids_;          ///< by index
};

}  // namespace berth::edges::detail
