/// A verb's outputs in addition to its answer: the page of --report and files such as --log. One protocol for all
/// verbs.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "surface/cli/shared/interrupt.h"
#include "surface/cli/shared/output_lines.h"
#include "surface/cli/shared/report_folder.h"

namespace berth::cli {

/// Order of use: construct it before the inputs are read; `begin` when they are valid; open the wanted outputs; run and
/// poll `may_continue`; `finish`. If destroyed before `finish`, or after a failure, it leaves no files and no folders.
/// At most one object exists at a time.
class RunOutputs {
 public:
  /// From here on, an interrupt is only recorded; before, it ends the program at once, because nothing was written yet.
  /// If a run cannot be stopped, call this after the run.
  void begin() { interrupt_.defer(); }

  /// `dir` absent: no page is wanted. Error: kUnavailable.
  [[nodiscard]] Result<void> open_report(const std::optional<std::string>& dir);
  [[nodiscard]] bool has_report() const { return has_report_; }
  /// The result is valid as long as this object. `path` absent: not wanted, added lines are dropped. Error:
  /// kUnavailable.
  [[nodiscard]] Result<OutputLines*> open_lines(const std::optional<std::string>& path);
  /// Adds a file of another kind: `complete` makes it appear. Its owner must outlive `finish`, and remove the file if
  /// `complete` is not called.
  void add_file(std::function<Result<void>()> complete) { files_.push_back(std::move(complete)); }

  [[nodiscard]] bool is_interrupted() const { return interrupt_.is_interrupted(); }
  /// Whether there was no interrupt so far, and all lines could be written.
  [[nodiscard]] bool may_continue() const;
  /// Why a run was stopped. Requires: may_continue() is false, or was.
  [[nodiscard]] Error reason_of_stop() const;

  /// The answer, rendered after the run.
  struct Answer {
    std::function<std::string()> text;
    std::function<std::string()> page;  ///< called if a report was opened
  };
  /// Renders, then completes all files in the order in which they were opened, the page last. Returns the text if all
  /// could be written; after the first failure, nothing more is. An interrupt before the end of rendering is an error.
  [[nodiscard]] Result<std::string> finish(const Answer& answer);

 private:
  [[nodiscard]] Result<void> write(const std::optional<std::string>& page);

  InterruptWatch interrupt_;
  ReportFolder folder_;
  bool has_report_ = false;
  std::deque<OutputLines> lines_;
  std::vector<std::function<Result<void>()>> files_;
};

}  // namespace berth::cli
