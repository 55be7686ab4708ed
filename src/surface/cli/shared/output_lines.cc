#include "surface/cli/shared/output_lines.h"

#include <utility>

#include "surface/cli/shared/unwritable.h"

namespace berth::cli {

Result<void> OutputLines::open(const std::optional<std::string>& path) {
  if (!path) return {};
  auto file = edges::FileSink::open(*path);
  if (!file) return unwritable(file.error());
  file_.emplace(std::move(*file));
  return {};
}

void OutputLines::add(std::string_view line) {
  if (!file_ || !written_) return;
  if (auto added = file_->append(line); !added) written_ = unwritable(added.error());
}

Result<void> OutputLines::commit() {
  if (!file_ || !written_) return written_;
  auto committed = file_->commit();
  return committed ? committed : unwritable(committed.error());
}

}  // namespace berth::cli
