/// Folders and files of this machine, behind the port `FileTree`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "domain/ports/file_tree.h"

namespace berth::edges {

class DiskTree final : public FileTree {
 public:
  static constexpr std::size_t kEntryCountMax = 100'000;  ///< of a folder

  [[nodiscard]] Result<std::vector<FolderEntry>> list(const std::string& path) const override;
  [[nodiscard]] Result<std::unique_ptr<OpenFile>> open(const std::string& path) const override;
};

}  // namespace berth::edges
