/// A thread that writes the figures of a model server into files, second by second.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "edges/files/appended_file.h"
#include "serving/figures/figure_book.h"
#include "serving/figures/usage_lines.h"

namespace berth::edges {

struct FigureFiles {
  struct Usage {
    AppendedFile file;
    serving::UsageLines lines;
  };
  std::optional<AppendedFile> series = std::nullopt;
  std::optional<Usage> usage = std::nullopt;
};

struct FigureFileOptions {
  std::optional<std::string> series = std::nullopt;  ///< paths
  std::optional<std::string> usage = std::nullopt;
  serving::UsageDevice device = {};  ///< of the usage
  std::string id_prefix = {};        ///< see UsageLines
};

/// Opens those that are wanted, and finds out until when the usage of the device was written. Errors: those of
/// AppendedFile and UsageLines.
[[nodiscard]] Result<FigureFiles> open_figure_files(const FigureFileOptions& options);

class FigureRecorder {
 public:
  struct Options {
    FigureFiles files;
    /// What has ended since the last call; `is_last`: the server has stopped. Called by one thread at a time, each
    /// second also if there are no files: whoever answers looks at the wall clock then.
    std::function<serving::EndedFigures(bool is_last)> take;
    std::function<void(const std::string& message)> report;
  };

  explicit FigureRecorder(Options options);
  FigureRecorder(const FigureRecorder&) = delete;
  FigureRecorder& operator=(const FigureRecorder&) = delete;
  /// Writes what is left.
  ~FigureRecorder();

 private:
  void run();
  void record(bool is_last);
  /// Reports the first of several failures.
  void write(AppendedFile& file, const std::string& lines, bool& has_failed);

  Options options_;
  bool has_series_failed_ = false;
  bool has_usage_failed_ = false;
  std::mutex lock_;
  std::condition_variable stopping_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace berth::edges
