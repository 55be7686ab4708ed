#include "live/folder/recorded_files.h"

#include <fmt/format.h>

namespace berth::live {
namespace {

Result<std::string> missing(const std::string& path) {
  return fail(ErrorCode::kNotFound, fmt::format("{}: not among the recorded files", path));
}

}  // namespace

Result<std::string> RememberingFiles::read(const std::string& path) const {
  auto content = files_.read(path);
  if (!content) return content;
  const bool is_new = !contents_.contains(path);
  if (is_new) bytes_ += content->size();
  if (bytes_ > bytes_max_) {
    return invalid(fmt::format("{}: wanted files of at most {} bytes together in the scenario of berth up, found more",
                               path, bytes_max_));
  }
  if (is_new) contents_[path] = *content;
  return content;
}

Result<std::optional<std::vector<std::string>>> RememberingFiles::list(const std::string& path) const {
  auto names = files_.list(path);
  if (names && *names) folders_[path] = **names;
  return names;
}

Result<std::string> RecordedFiles::read(const std::string& path) const {
  const auto found = contents_.find(path);
  return found == contents_.end() ? missing(path) : Result<std::string>(found->second);
}

Result<std::optional<std::vector<std::string>>> RecordedFiles::list(const std::string& path) const {
  const auto found = folders_.find(path);
  if (found == folders_.end()) return std::optional<std::vector<std::string>>();
  return std::optional(found->second);
}

}  // namespace berth::live
