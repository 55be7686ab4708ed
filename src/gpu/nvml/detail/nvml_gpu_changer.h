/// The port that changes GPUs, implemented with the functions of an NVML library.
#pragma once

#include <cstdint>
#include <string>

#include "domain/ports/gpu_changer.h"
#include "gpu/nvml/detail/changing_functions.h"
#include "gpu/nvml/detail/nvml_gpu_library.h"

namespace berth::edges::detail {

/// Instances are looked up by id at each call, so that no handle of an earlier one is used. The handle of a GPU is
/// that of the library's last reading: read a GPU before it is changed. No lock is held while the library is called.
class NvmlGpuChanger final : public GpuChanger {
 public:
  /// `library` must outlive it.
  NvmlGpuChanger(NvmlGpuLibrary& library, const ChangingFunctions& functions)
      : library_(library), functions_(functions) {}

  [[nodiscard]] GpuAnswer<std::uint32_t> create_gpu_instance(const std::string& uuid, std::uint32_t profile_id,
                                                             int start, int length) override;
  [[nodiscard]] GpuAnswer<std::uint32_t> create_compute_instance(const std::string& uuid,
                                                                 std::uint32_t gpu_instance) override;
  [[nodiscard]] GpuAnswer<void> destroy_compute_instance(const std::string& uuid, std::uint32_t gpu_instance,
                                                         std::uint32_t id) override;
  [[nodiscard]] GpuAnswer<void> destroy_gpu_instance(const std::string& uuid, std::uint32_t id) override;
  [[nodiscard]] GpuAnswer<ModeChange> set_mig_mode(const std::string& uuid, bool is_on) override;

 private:
  [[nodiscard]] GpuAnswer<nvml_abi::GpuInstance> find_gpu_instance(const std::string& uuid, std::uint32_t id);

  NvmlGpuLibrary& library_;
  ChangingFunctions functions_;
};

}  // namespace berth::edges::detail
