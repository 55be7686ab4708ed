#include "apps/serve/demo_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/core/rng.h"
#include "models/generate/perceptron.h"

namespace berth::serve {
namespace {

constexpr std::int64_t kOutputWidth = 10;

Result<void> write_file(const std::filesystem::path& path, std::string_view content) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) return fail(ErrorCode::kUnavailable, fmt::format("{}: cannot be written", path.string()));
  return {};
}

}  // namespace

std::string demo_device() {
  std::int64_t bytes = 0;
  std::string models;
  for (const DemoModel& model : kDemoModels) {
    bytes += model.bytes;
    models += fmt::format("  {}: {{latency_ms: [[1, 6.125], [64, 72.464]], bytes: {}}}\n", model.name, model.bytes);
  }
  return fmt::format(
      "berth: 1\n"
      "name: demo\n"
      "origin: \"made up, like a large GPU\"\n"
      "lanes: 1\n"
      "memory: {}\n"
      "batch_max: 64\n"
      "load: {{seconds: 0.02, bytes_per_second: 500000000}}\n"
      "models:\n{}",
      bytes / 2, models);
}

Result<void> DemoFolder::write() {
  std::error_code error;
  const auto temporary = std::filesystem::temp_directory_path(error);
  std::string pattern = (temporary / "berth-demo-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: cannot be made: {}", pattern, std::strerror(errno)));
  }
  path_ = pattern;
  if (auto written = write_file(device_file(), demo_device()); !written) return written;
  const std::string config =
      fmt::format(R"(parameters {{ key: "target_ms" value {{ string_value: "{}" }} }})", kDemoTarget.count() / 1000);
  for (std::size_t i = 0; i < kDemoModels.size(); ++i) {
    const std::filesystem::path model = std::filesystem::path(repository()) / kDemoModels[i].name;
    const std::string content = models::perceptron(
        {kDemoInputWidth, kDemoModels[i].layer_width, kDemoModels[i].layer_width, kOutputWidth}, Rng(i + 1));
    if (auto written = write_file(model / "1/model.onnx", content); !written) return written;
    if (auto written = write_file(model / "config.pbtxt", config); !written) return written;
  }
  return {};
}

DemoFolder::~DemoFolder() {
  std::error_code ignored;  // what is left is among the temporary files
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace berth::serve
