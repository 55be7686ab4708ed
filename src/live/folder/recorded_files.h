/// The files of a scenario, as read when a world begins and as its journal stores them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "live/folder/local_fleet.h"

namespace berth::live {

/// Reads files, and remembers their contents.
class RememberingFiles : public Files {
 public:
  /// `bytes_max`: of all contents; a file that exceeds it is an error.
  explicit RememberingFiles(const Files& files, std::size_t bytes_max = SIZE_MAX)
      : files_(files), bytes_max_(bytes_max) {}
  [[nodiscard]] Result<std::string> read(const std::string& path) const override;
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string& path) const override;

  /// By path: contents, and the names in folders.
  [[nodiscard]] const std::map<std::string, std::string>& contents() const { return contents_; }
  [[nodiscard]] const std::map<std::string, std::vector<std::string>>& folders() const { return folders_; }

 private:
  const Files& files_;
  std::size_t bytes_max_;
  mutable std::size_t bytes_ = 0;
  mutable std::map<std::string, std::string> contents_;
  mutable std::map<std::string, std::vector<std::string>> folders_;
};

/// The files that were recorded.
class RecordedFiles : public Files {
 public:
  RecordedFiles() = default;
  RecordedFiles(std::map<std::string, std::string> contents, std::map<std::string, std::vector<std::string>> folders)
      : contents_(std::move(contents)), folders_(std::move(folders)) {}
  [[nodiscard]] Result<std::string> read(const std::string& path) const override;
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string& path) const override;
  [[nodiscard]] const std::map<std::string, std::string>& contents() const { return contents_; }
  [[nodiscard]] const std::map<std::string, std::vector<std::string>>& folders() const { return folders_; }
  /// Whether the world uses real GPUs, of this machine or of a cluster: its fleet is among the files.
  [[nodiscard]] bool is_local() const { return contents_.contains(kLocalFleetFile); }
  /// The same files with another fleet. Requires: is_local.
  void put_fleet(const std::vector<device::LocalGpu>& fleet) { contents_[kLocalFleetFile] = fleet_json(fleet); }
  /// The cluster whose GPUs it uses; nothing: none.
  [[nodiscard]] std::optional<std::string> cluster() const {
    const auto found = contents_.find(kClusterFile);
    return found == contents_.end() ? std::nullopt : std::optional(found->second);
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.contents_, self.folders_);
  }

 private:
  std::map<std::string, std::string> contents_;
  std::map<std::string, std::vector<std::string>> folders_;
};

}  // namespace berth::live
