/// One simulated GPU as the sources describe it, independent of the code under test: plain lists of instances,
/// unit-by-unit loops, exhaustive searches. Slow and obvious.
///
/// Rules, in the order in which a call checks them:
/// - An unknown profile number is kInvalidArgument; a GPU without MIG is kNotSupported, so is a known number that the
///   GPU lacks; an unknown profile id is kInvalidArgument (docs/reference/nvml.md). Creation with the mode off is
///   kNotSupported.
/// - A caller that may not change devices gets kNoPermission.
/// - A missing object is kNotFound; one with instances in it or processes on it is kInUse.
/// - A placement that the profile does not have is kInvalidArgument; an occupied one, one instance too many, and
///   exhausted engines are kInsufficientResources.
///
/// The driver's choice preserves as many placements as possible; ties: the lowest. This holds for GPU instances and,
/// from Hopper on, for compute instances. There a compute instance covers 1, 2, 4, 4 or 8 slices for its 1, 2, 3, 4 or
/// 7 and begins at multiples of that; on Ampere it covers exactly its slices, begins anywhere, and the driver takes the
/// first place where it fits.
///
/// Sources: NVIDIA's MIG User Guide and NVML reference; docs/reference/nvml.md; open-gpu-kernel-modules @df1c9a3
/// (595.45.04): kernel_mig_manager.c (`kmigmgrAllocateInstanceEngines`, `kmigmgrIsCTSAlignmentRequired`,
/// `kmigmgrGetFreeCTSId`, `kmigmgrComputeProfileGetCapacity`), kernel_graphics_manager.c (`kgrmgrCheckVeidsRequest`);
/// public listings of `nvidia-smi mig -lcip` and `-lci`: a 4g without 3 slices (A100-40GB, A100-80GB), a 3g as 0:3 on
/// an A100 and as 0:4 on an H100, 1c and then 2c created in one 3g of an A100. That the RTX PRO 6000 is like Hopper is
/// unverified.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/nvml_abi/codes.h"
#include "gpu/nvml_sim/testing/known_gpus.h"

namespace berth::nvml_sim::testing {

using nvml_abi::Code;

/// The result of a call: a code, and a value if it is kSuccess.
template <class T>
struct Told {
  Code code = Code::kSuccess;
  T value = {};
  friend bool operator==(const Told&, const Told&) = default;
};

/// Start and length: units of the GPU, or compute slices of a GPU instance.
using Place = std::pair<int, int>;
/// Ids of a GPU instance and a compute instance in it.
using Device = std::pair<int, int>;

struct ModelProcess {
  std::uint32_t pid = 0;
  std::optional<Device> device = std::nullopt;  ///< none: on the whole GPU
  std::uint32_t memory_mib = 0;
  friend auto operator<=>(const ModelProcess&, const ModelProcess&) = default;
};

struct ModelMode {
  bool is_on = false;
  bool is_pending_on = false;
  friend bool operator==(const ModelMode&, const ModelMode&) = default;
};

struct ModelComputeInstance {
  std::uint32_t profile_id = 0;
  int slices = 0;
  Place place;
};

struct ModelGpuInstance {
  const KnownProfile* profile = nullptr;
  int start = 0;
  std::map<int, ModelComputeInstance> compute = {};  ///< by id
};

class RulesModel {
 public:
  /// Requires: `gpu` outlives it; a mode that is on only with MIG.
  RulesModel(const KnownGpu& gpu, bool is_mig_on, bool is_before_r510);

  [[nodiscard]] Told<ModelMode> mode() const;
  [[nodiscard]] Told<Code> set_mode(bool is_on, bool may_change);

  [[nodiscard]] Told<std::uint32_t> profile_id(std::uint32_t number) const;
  [[nodiscard]] Told<std::vector<Place>> placements(std::uint32_t id) const;
  [[nodiscard]] Told<int> capacity(std::uint32_t id) const;
  [[nodiscard]] Told<std::vector<int>> gpu_instances(std::uint32_t id) const;
  [[nodiscard]] Told<int> create_gpu_instance(std::uint32_t id, const std::optional<Place>& place, bool may_change);
  [[nodiscard]] Code destroy_gpu_instance(int gpu_instance, bool may_change);

  // Requires of each: the GPU instance exists.
  [[nodiscard]] Told<std::uint32_t> compute_profile_id(int gpu_instance, std::uint32_t number) const;
  [[nodiscard]] Told<std::vector<Place>> compute_placements(int gpu_instance, std::uint32_t id) const;
  [[nodiscard]] Told<int> compute_capacity(int gpu_instance, std::uint32_t id) const;
  [[nodiscard]] Told<std::vector<int>> compute_instances(int gpu_instance, std::uint32_t id) const;
  [[nodiscard]] Told<int> create_compute_instance(int gpu_instance, std::uint32_t id, const std::optional<Place>& place,
                                                  bool may_change);
  [[nodiscard]] Code destroy_compute_instance(int gpu_instance, int compute_instance, bool may_change);

  /// Adds a process, or changes its memory.
  void add_process(const ModelProcess& process);
  /// Returns whether it existed, on any device.
  bool remove_process(std::uint32_t pid);

  void reset();
  void reboot();

  [[nodiscard]] const KnownGpu& gpu() const { return *gpu_; }
  [[nodiscard]] const std::map<int, ModelGpuInstance>& instances() const { return instances_; }
  /// Ascending: NVML lists them in no stated order.
  [[nodiscard]] std::vector<ModelProcess> processes() const;
  /// In the order of NVML's index.
  [[nodiscard]] std::vector<Device> devices() const;
  [[nodiscard]] int devices_max() const { return mode_.is_on ? gpu_->slices : 0; }
  /// For a message of a test: "1g.10gb@0 (7), 3g.40gb@4 (2)".
  [[nodiscard]] std::string to_string() const;

 private:
  [[nodiscard]] Told<const KnownProfile*> find_profile(std::uint32_t id) const;
  [[nodiscard]] bool fits(const KnownProfile& profile, int start) const;
  [[nodiscard]] bool has_engines_for(const KnownProfile& profile) const;
  /// How many instances of the profile can be added at starts from the given one on, at most.
  [[nodiscard]] int most_of(const KnownProfile& profile, std::size_t from) const;
  /// Placements of all profiles that fit.
  [[nodiscard]] int possibilities() const;
  [[nodiscard]] std::optional<int> chosen_start(const KnownProfile& profile) const;
  [[nodiscard]] RulesModel with(const KnownProfile& profile, int start) const;
  [[nodiscard]] bool has_process_on(int gpu_instance) const;

  [[nodiscard]] const ModelGpuInstance& instance(int gpu_instance) const;
  /// Places of a kind of compute instance that are free.
  [[nodiscard]] std::vector<Place> free_places(int gpu_instance, std::uint32_t id) const;
  [[nodiscard]] std::optional<Place> chosen_place(int gpu_instance, std::uint32_t id) const;

  const KnownGpu* gpu_;
  bool is_before_r510_;
  ModelMode mode_;
  std::map<int, ModelGpuInstance> instances_;
  std::vector<ModelProcess> processes_;
};

}  // namespace berth::nvml_sim::testing
