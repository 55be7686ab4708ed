/// An output that an option names, written line by line while a run goes on: --log, --decisions, --runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "edges/files/file_sink.h"

namespace berth::cli {

/// The file appears whole, with commit(), or not at all. Not wanted: all calls do nothing.
class OutputLines {
 public:
  /// Absent: none is wanted. Errors: as FileSink::open, with status 1.
  [[nodiscard]] Result<void> open(const std::optional<std::string>& path);
  [[nodiscard]] bool is_open() const { return file_.has_value(); }
  /// Whether all that was added could be written; behind a failure nothing more is.
  [[nodiscard]] const Result<void>& written() const { return written_; }
  /// With its newline.
  void add(std::string_view line);
  [[nodiscard]] Result<void> commit();

 private:
  std::optional<edges::FileSink> file_;
  Result<void> written_;
};

}  // namespace berth::cli
