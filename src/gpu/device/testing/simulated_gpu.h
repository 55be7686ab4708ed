/// A simulated GPU behind both ports, without a library: for tests that count its calls and inject failures into any of
/// them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/ports/gpu_changer.h"
#include "domain/ports/gpu_library.h"
#include "gpu/nvml_sim/device_rules.h"
#include "gpu/nvml_sim/state.h"

namespace berth::device::testing {

/// An injected event at one call.
struct Trouble {
  enum class Kind : std::uint8_t {
    kEvent,          ///< another program acts before it
    kRefused,        ///< it is not carried out, and returns `code`
    kDoneButFailed,  ///< it is carried out, but returns `code`
    kLost,           ///< the GPU is lost before it
    kDies,           ///< it is carried out, then the calling process dies: no later call does anything
  };
  int at_call = 0;  ///< the first call after `script` is 0; readings count
  Kind kind = Kind::kRefused;
  nvml_abi::Code code = nvml_abi::Code::kUnknown;
  std::function<void(nvml_sim::GpuRecord&)> event = {};
};

/// Not thread-safe. Instances that its calls made are ours, all others are foreign.
class SimulatedGpu final : public GpuLibrary, public GpuChanger {
 public:
  explicit SimulatedGpu(const nvml_sim::GpuRecord& record);

  /// Counts calls from 0 again, and injects these events. A dead process has a successor.
  void script(std::vector<Trouble> troubles);
  [[nodiscard]] bool is_dead() const { return is_dead_; }
  [[nodiscard]] int calls() const { return calls_; }
  [[nodiscard]] int changing_calls() const { return changing_calls_; }

  [[nodiscard]] nvml_sim::GpuRecord& record() { return record_; }
  [[nodiscard]] std::string uuid() const { return record_.uuid; }
  /// The duration of each following change, on a clock that only changes advance.
  void take_us(std::int64_t change_us) { change_us_ = change_us; }
  [[nodiscard]] std::int64_t now_us() const { return now_us_; }
  /// The driver does not name processes.
  void hide_processes() { hides_processes_ = true; }
  /// The driver destroys instances in use by a process, as real ones may.
  void destroy_in_use() { destroys_in_use_ = true; }

  /// Whether the instance with this id is ours.
  [[nodiscard]] bool is_ours(std::uint32_t gpu_instance) const;
  /// Violations that must never happen: a foreign instance was destroyed, or one with a process on it.
  [[nodiscard]] const std::vector<std::string>& wrongs() const { return wrongs_; }

  [[nodiscard]] const GpuLibraryFacts& facts() const override { return facts_; }
  [[nodiscard]] GpuAnswer<std::vector<Listed>> list() override;
  [[nodiscard]] GpuAnswer<GpuReading> read(const std::string& uuid) override;
  /// Never has a figure.
  [[nodiscard]] GpuAnswer<GpuMeasurement> measure(const std::string& uuid) override;
  /// Never reports an event.
  [[nodiscard]] GpuAnswer<std::optional<GpuNotice>> wait(const std::string& uuid, std::int64_t millis_max) override;

  [[nodiscard]] GpuAnswer<std::uint32_t> create_gpu_instance(const std::string& uuid, std::uint32_t profile_id,
                                                             int start, int length) override;
  [[nodiscard]] GpuAnswer<std::uint32_t> create_compute_instance(const std::string& uuid,
                                                                 std::uint32_t gpu_instance) override;
  [[nodiscard]] GpuAnswer<void> destroy_compute_instance(const std::string& uuid, std::uint32_t gpu_instance,
                                                         std::uint32_t id) override;
  [[nodiscard]] GpuAnswer<void> destroy_gpu_instance(const std::string& uuid, std::uint32_t id) override;
  [[nodiscard]] GpuAnswer<ModeChange> set_mig_mode(const std::string& uuid, bool is_on) override;

 private:
  template <class T>
  [[nodiscard]] GpuAnswer<T> call(const std::string& uuid, const char* name,
                                  const std::function<nvml_sim::Answer<T>()>& work);
  template <class T>
  [[nodiscard]] GpuAnswer<T> change(const std::string& uuid, const char* name,
                                    const std::function<nvml_sim::Answer<T>()>& work);
  [[nodiscard]] GpuReading read_record() const;
  void evict(const std::function<bool(const nvml_sim::ProcessRecord&)>& is_on_it);

  nvml_sim::GpuRecord record_;
  GpuLibraryFacts facts_;
  std::vector<Trouble> troubles_;
  std::set<std::uint32_t> ours_;  ///< generations
  std::vector<std::string> wrongs_;
  int calls_ = 0;
  int changing_calls_ = 0;
  std::int64_t change_us_ = 0;
  std::int64_t now_us_ = 0;
  bool is_dead_ = false;
  bool hides_processes_ = false;
  bool destroys_in_use_ = false;
};

}  // namespace berth::device::testing
