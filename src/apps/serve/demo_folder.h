/// What `berth serve --demo` serves: generated models and a simulated device, in a folder that lives as long as the
/// demonstration.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/core/instant.h"
#include "base/core/result.h"

namespace berth::serve {

struct DemoModel {
  std::string_view name;
  std::int64_t layer_width;  ///< of a perceptron
  std::int64_t bytes;        ///< on the device, where it stands for a larger model: a load takes 0.08 to 0.42 s
};

inline constexpr std::array<DemoModel, 6> kDemoModels = {{
    {.name = "faces", .layer_width = 1090, .bytes = 200'000'000},
    {.name = "labels", .layer_width = 590, .bytes = 30'000'000},
    {.name = "plates", .layer_width = 990, .bytes = 140'000'000},
    {.name = "prices", .layer_width = 740, .bytes = 50'000'000},
    {.name = "spam", .layer_width = 880, .bytes = 100'000'000},
    {.name = "tags", .layer_width = 880, .bytes = 80'000'000},
}};
inline constexpr std::int64_t kDemoInputWidth = 256;
inline constexpr Micros kDemoTarget = Micros(800'000);

/// The file of the device, with memory for half of the models.
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
