/// What `berth serve --demo` serves: generated models and a simulated device, in a folder that lives as long as the
/// demonstration.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/core/instant.h"
#include "base/core/result.h"

namespace berth::serve {

inline constexpr std::array<std::string_view, 6> kDemoModels = {"faces", "labels", "plates", "prices", "spam", "tags"};
inline constexpr std::int64_t kDemoInputWidth = 256;
inline constexpr Micros kDemoTarget = Micros(200'000);

/// The file of the device, with memory for three of the models.
[[nodiscard]] std::string demo_device();

class DemoFolder {
 public:
  DemoFolder() = default;
  DemoFolder(const DemoFolder&) = delete;
  DemoFolder& operator=(const DemoFolder&) = delete;
  /// Removes the folder.
  ~DemoFolder();

  /// Makes a folder among the temporary files and writes all of it. Errors: kUnavailable, which file and why.
  [[nodiscard]] Result<void> write();

  [[nodiscard]] std::string repository() const { return path_ + "/models"; }
  [[nodiscard]] std::string device_file() const { return path_ + "/device.yaml"; }

 private:
  std::string path_;
};

}  // namespace berth::serve
