#include "scenario/detail/sources.h"

#include <filesystem>

namespace berth::scenario::detail {

Sources::Sources(const std::string& scenario_path, const Files& files)
    : folder_(std::filesystem::path(scenario_path).parent_path().string()), files_(&files) {}

void Sources::refuse_path(const yaml::Value& value) {
  if (value.at("path").is_written()) value.at("path").refuse("no path (an object has its rows within itself)");
}

std::string Sources::resolve(const yaml::Value& path) const {
  constexpr std::size_t kPathLengthMax = 4096;
  const std::string name = path.name(kPathLengthMax);
  if (path.has_failed()) return "";
  return (std::filesystem::path(folder_) / name).string();  // an absolute one stays as it is
}

std::optional<SourceFile> Sources::read(const yaml::Value& path) {
  const std::string resolved = resolve(path);
  if (path.has_failed()) return std::nullopt;
  if (resolved != last_path_) {
    last_path_.clear();
    last_text_.clear();
    auto text = files_->read(resolved);
    if (!text) {
      path.fail_with(text.error());
      return std::nullopt;
    }
    last_text_ = std::move(*text);
    last_path_ = resolved;
  }
  return SourceFile{resolved, &last_text_};
}

}  // namespace berth::scenario::detail
