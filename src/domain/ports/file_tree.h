/// The interface to folders and files that others change meanwhile: a repository of models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"

namespace berth {

/// Two equal stamps of a path mean that its content is the same.
struct FileStamp {
  std::uint64_t bytes = 0;
  Micros modified = {};  ///< when the content was last written, since 1970; a program can set it
  std::uint64_t inode = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

enum class EntryKind {
  kFile,
  kFolder,
  kOther,  ///< a device, a pipe, a link without a target, or what may not be looked at
};

struct FolderEntry {
  std::string name;
  EntryKind kind = EntryKind::kFile;
  FileStamp stamp = {};
  Micros changed = {};  ///< the last change of its content or its attributes, since 1970; no program can set it

  friend bool operator==(const FolderEntry&, const FolderEntry&) = default;
};

/// A file that is read in pieces. Whatever happens to it meanwhile, reading gives bytes or an error.
class OpenFile {
 public:
  virtual ~OpenFile() = default;
  /// As it was opened.
  [[nodiscard]] virtual FileStamp stamp() const = 0;
  /// Fills `place` from the byte at `offset` on; how many bytes: fewer only at the end of the file.
  [[nodiscard]] virtual Result<std::size_t> read(std::uint64_t offset, std::span<char> place) const = 0;
};

/// A file of bytes that live at least as long.
[[nodiscard]] std::unique_ptr<OpenFile> file_over(std::string_view bytes);

/// The whole content. Errors, without the file's name: more than `bytes_max` bytes, those of `OpenFile::read`.
[[nodiscard]] Result<std::string> read_whole(const OpenFile& file, std::size_t bytes_max);

class FileTree {
 public:
  virtual ~FileTree() = default;
  /// The entries of a folder in the byte order of their names. Links are followed. What vanishes meanwhile is left out.
  /// Errors, "PATH: why": kNotFound; not a folder, no permission, more entries than the lister's limit.
  [[nodiscard]] virtual Result<std::vector<FolderEntry>> list(const std::string& path) const = 0;
  /// Opens a regular file. Errors, "PATH: why": kNotFound; not a regular file, no permission.
  [[nodiscard]] virtual Result<std::unique_ptr<OpenFile>> open(const std::string& path) const = 0;
};

}  // namespace berth
