/// What a verb writes besides its answer: the page of --report and files such as --log. One protocol for all verbs.
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

/// In this order: made before the inputs are read; `begin` when they are good; everything that is wanted is opened; the
/// run, which polls `may_continue`; `finish`. Destroyed before that, or behind a failure, it leaves no files and no
/// folders. At most one object exists at a time.
class RunOutputs {
 public:
  /// An interrupt is noted from here on; before, it ends the program at once: nothing was written yet. Where a run
  /// cannot be stopped, it is called behind the run.
  void begin() { interrupt_.defer(); }

  /// Absent: no page is wanted. Error: kUnavailable.
  [[nodiscard]] Result<void> open_report(const std::optional<std::string>& dir);
  [[nodiscard]] bool has_report() const { return has_report_; }
  /// Lives as long as this object. Absent: none are wanted, and what is added goes nowhere. Error: kUnavailable.
  [[nodiscard]] Result<OutputLines*> open_lines(const std::optional<std::string>& path);
  /// A file of another kind: `complete` makes it appear. Its owner outlives `finish`, and leaves nothing behind if that
  /// is not called.
  void add_file(std::function<Result<void>()> complete) { files_.push_back(std::move(complete)); }

  [[nodiscard]] bool is_interrupted() const { return interrupt_.is_interrupted(); }
  /// No interrupt so far, and all lines could be written.
  [[nodiscard]] bool may_continue() const;
  /// Why a run was stopped. Requires: may_continue() is false, or was.
  [[nodiscard]] Error reason_of_stop() const;

  /// The answer, rendered when the run is over.
  struct Answer {
    std::function<std::string()> text;
    std::function<std::string()> page;  ///< called if a report was opened
  };
  /// Renders, then completes all files in the order in which they were opened, the page last. The text if all could be
  /// written; behind the first that cannot, nothing more is. An interrupt until the rendering is done is an error.
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
