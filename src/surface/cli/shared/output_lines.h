/// An output that an option names, written line by line during a run: --log, --decisions, --runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "edges/files/file_sink.h"

namespace berth::cli {

/// The file appears complete, with commit(), or not at all. If it is not wanted, all calls do nothing.
class OutputLines {
 public:
  /// `path` absent: not wanted. Errors: those of FileSink::open, with status 1.
  [[nodiscard]] Result<void> open(const std::optional<std::string>& path);
  [[nodiscard]] bool is_open() const { return file_.has_value(); }
  /// Whether everything added could be written; after a failure, nothing more is written.
  [[nodiscard]] const Result<void>& written() const { return written_; }
  /// `line` includes its newline.
  void add(std::string_view line);
  [[nodiscard]] Result<void> commit();

 private:
  std::optional<edges::FileSink> file_;
  Result<void> written_;
};

}  // namespace berth::cli
