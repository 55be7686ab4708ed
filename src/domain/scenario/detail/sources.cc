#include "domain/scenario/detail/sources.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "base/core/text.h"

namespace berth::scenario::detail {

Sources::Sources(const std::string& scenario_path, const Files& files)
    : folder_(std::filesystem::path(scenario_path).parent_path().string()), files_(&files) {}

void Sources::refuse_path(const yaml::Value& value) {
  if (value.at("path").is_written()) value.at("path").refuse("no path (an object has its rows within itself)");
}

std::optional<BlobRows> Sources::find_rows(const yaml::Value& value) {
  constexpr std::string_view kWanted = "the SHA-256 of a blob, 64 digits and letters a-f";
  constexpr std::size_t kDigits = 64;
  const yaml::Value rows = value.at("rows");
  if (find_rows_ == nullptr || !rows.is_map()) return std::nullopt;
  rows.check_keys({"blob"});
  const yaml::Value blob = rows.at("blob");
  const std::string name = blob.text(kWanted);
  const bool is_hex = name.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!value.has_failed() && (name.size() != kDigits || !is_hex)) blob.refuse(kWanted);
  if (value.has_failed()) return std::nullopt;
  auto found = (*find_rows_)(name);
  if (!found) {
    blob.fail_with(found.error());
    return std::nullopt;
  }
  if (!*found) {
    blob.refuse("a blob that is there: PUT /v1/blobs/SHA256 stores one", fmt::format("{}, which is not there", name));
  } else {
    blobs_[value.path().substr(root_.empty() ? 0 : root_.size() + 1)] = name;
  }
  return std::move(*found);
}

void Sources::keep_failure(const yaml::Value& value, const yaml::Failure& failure) {
  value.at("rows").at("blob").fail(fmt::format("rows{}: {}", failure.field(), failure.message), failure.wanted,
                                   failure.found);
}

std::string Sources::resolve(const yaml::Value& path) const {
  constexpr std::size_t kPathLengthMax = 4096;
  const std::string name = path.name(kPathLengthMax);
  if (path.has_failed()) return "";
  return (std::filesystem::path(folder_) / name).string();  // an absolute path is kept unchanged
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
