/// Folders and files in memory, for tests of what reads them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "domain/ports/file_tree.h"

namespace berth::testing {

/// Paths are "a/b/c"; folders exist because of what is in them, or because they were made.
class MemoryTree final : public FileTree {
 public:
  /// Writes a file anew: another inode.
  void write(const std::string& path, std::string bytes, Micros now);
  void make_folder(const std::string& path) { folders_.insert(path); }
  /// A device, a pipe or a link without a target.
  void make_other(const std::string& path) { others_.insert(path); }
  /// A file, or a folder with everything in it.
  void remove(const std::string& path);
  /// It can no longer be listed or opened.
  void forbid(const std::string& path) { forbidden_.insert(path); }
  void allow(const std::string& path) { forbidden_.erase(path); }

  [[nodiscard]] Result<std::vector<FolderEntry>> list(const std::string& path) const override;
  [[nodiscard]] Result<std::unique_ptr<OpenFile>> open(const std::string& path) const override;

  /// How often a file was opened.
  [[nodiscard]] int open_count() const { return open_count_; }

 private:
  struct MemoryFile {
    std::string bytes;
    FileStamp stamp;
  };
  [[nodiscard]] bool is_folder(const std::string& path) const;

  std::map<std::string, MemoryFile> files_;
  std::set<std::string> folders_;
  std::set<std::string> others_;
  std::set<std::string> forbidden_;
  std::uint64_t inode_ = 0;
  mutable int open_count_ = 0;
};

}  // namespace berth::testing
