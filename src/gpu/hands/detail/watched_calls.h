/// A library that records which of its calls has not returned.
#pragma once

#include <mutex>
#include <string>

#include "domain/ports/gpu_changer.h"
#include "domain/ports/gpu_library.h"

namespace berth::edges::detail {

/// The call under way; may be read by any thread.
class CallNote {
 public:
  void set(const char* call);
  [[nodiscard]] std::string get() const;

 private:
  mutable std::mutex mutex_;
  const char* call_ = "";
};

class WatchedLibrary final : public GpuLibrary {
 public:
  WatchedLibrary(GpuLibrary& library, CallNote& note) : library_(library), note_(note) {}
  [[nodiscard]] const GpuLibraryFacts& facts() const override { return library_.facts(); }
  [[nodiscard]] GpuAnswer<std::vector<Listed>> list() override;
  [[nodiscard]] GpuAnswer<GpuReading> read(const std::string& uuid) override;
  [[nodiscard]] GpuAnswer<GpuMeasurement> measure(const std::string& uuid) override;
  [[nodiscard]] GpuAnswer<std::optional<GpuNotice>> wait(const std::string& uuid, std::int64_t millis_max) override;

 private:
  GpuLibrary& library_;
  CallNote& note_;
};

class WatchedChanger final : public GpuChanger {
 public:
  WatchedChanger(GpuChanger& changer, CallNote& note) : changer_(changer), note_(note) {}
  [[nodiscard]] GpuAnswer<std::uint32_t> create_gpu_instance(const std::string& uuid, std::uint32_t profile_id,
                                                             int start, int length) override;
  [[nodiscard]] GpuAnswer<std::uint32_t> create_compute_instance(const std::string& uuid,
                                                                 std::uint32_t gpu_instance) override;
  [[nodiscard]] GpuAnswer<void> destroy_compute_instance(const std::string& uuid, std::uint32_t gpu_instance,
                                                         std::uint32_t id) override;
  [[nodiscard]] GpuAnswer<void> destroy_gpu_instance(const std::string& uuid, std::uint32_t id) override;
  [[nodiscard]] GpuAnswer<ModeChange> set_mig_mode(const std::string& uuid, bool is_on) override;

 private:
  GpuChanger& changer_;
  CallNote& note_;
};

}  // namespace berth::edges::detail
