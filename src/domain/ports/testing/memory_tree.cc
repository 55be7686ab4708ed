#include "domain/ports/testing/memory_tree.h"

#include <algorithm>
#include <utility>

namespace berth::testing {
namespace {

/// A copy: a file that was removed stays readable while it is open.
class OpenMemoryFile final : public OpenFile {
 public:
  OpenMemoryFile(std::string bytes, FileStamp stamp) : bytes_(std::move(bytes)), stamp_(stamp) {}
  [[nodiscard]] FileStamp stamp() const override { return stamp_; }
  [[nodiscard]] Result<std::size_t> read(std::uint64_t offset, std::span<char> place) const override {
    return file_over(bytes_)->read(offset, place);
  }

 private:
  std::string bytes_;
  FileStamp stamp_;
};

}  // namespace

void MemoryTree::write(const std::string& path, std::string bytes, Micros now) {
  const FileStamp stamp{.bytes = bytes.size(), .modified = now, .inode = ++inode_};
  files_[path] = {.bytes = std::move(bytes), .stamp = stamp};
}

void MemoryTree::remove(const std::string& path) {
  const auto is_inside = [&](const std::string& each) { return each == path || each.starts_with(path + "/"); };
  std::erase_if(files_, [&](const auto& file) { return is_inside(file.first); });
  std::erase_if(folders_, is_inside);
  std::erase_if(others_, is_inside);
}

bool MemoryTree::is_folder(const std::string& path) const {
  const auto is_inside = [&](const std::string& each) { return each.starts_with(path + "/"); };
  return folders_.contains(path) || std::ranges::any_of(folders_, is_inside) ||
         std::ranges::any_of(others_, is_inside) ||
         std::ranges::any_of(files_, [&](const auto& file) { return is_inside(file.first); });
}

Result<std::vector<FolderEntry>> MemoryTree::list(const std::string& path) const {
  if (forbidden_.contains(path)) return invalid(path + ": cannot list: Permission denied");
  if (files_.contains(path)) return invalid(path + ": wanted a folder, found a file");
  if (!is_folder(path)) return fail(ErrorCode::kNotFound, path + ": cannot list: No such file or directory");
  std::map<std::string, FolderEntry> entries;
  const auto add = [&](const std::string& each, EntryKind kind, FileStamp stamp) {
    if (!each.starts_with(path + "/")) return;
    const std::string rest = each.substr(path.size() + 1);
    const std::string name = rest.substr(0, rest.find('/'));
    const bool is_direct = name == rest;
    entries[name] = {.name = name,
                     .kind = is_direct ? kind : EntryKind::kFolder,
                     .stamp = is_direct ? stamp : FileStamp{},
                     .changed = is_direct ? stamp.modified : Micros{}};
  };
  for (const std::string& folder : folders_) add(folder, EntryKind::kFolder, {});
  for (const std::string& other : others_) add(other, EntryKind::kOther, {});
  for (const auto& [name, file] : files_) add(name, EntryKind::kFile, file.stamp);
  std::vector<FolderEntry> sorted;
  for (auto& [name, entry] : entries) sorted.push_back(std::move(entry));
  return sorted;
}

Result<std::unique_ptr<OpenFile>> MemoryTree::open(const std::string& path) const {
  ++open_count_;
  if (forbidden_.contains(path)) return invalid(path + ": cannot open: Permission denied");
  const auto file = files_.find(path);
  if (file == files_.end()) return fail(ErrorCode::kNotFound, path + ": cannot open: No such file or directory");
  return std::make_unique<OpenMemoryFile>(file->second.bytes, file->second.stamp);
}

}  // namespace berth::testing
