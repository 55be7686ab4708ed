#include "surface/cli/shared/run_outputs.h"

#include <algorithm>
#include <utility>

#include "surface/cli/shared/unwritable.h"

namespace berth::cli {

Result<void> RunOutputs::open_report(const std::optional<std::string>& dir) {
  if (!dir) return {};
  has_report_ = true;
  return folder_.make(*dir);
}

Result<OutputLines*> RunOutputs::open_lines(const std::optional<std::string>& path) {
  OutputLines& lines = lines_.emplace_back();
  if (auto opened = lines.open(path); !opened) return pass_on(opened.error());
  add_file([&lines] { return lines.commit(); });
  return &lines;
}

bool RunOutputs::may_continue() const {
  return !is_interrupted() &&
         std::ranges::all_of(lines_, [](const OutputLines& lines) { return lines.written().has_value(); });
}

Error RunOutputs::reason_of_stop() const {
  for (const OutputLines& lines : lines_) {
    if (!lines.written()) return lines.written().error();
  }
  return interrupted_error();
}

Result<std::string> RunOutputs::finish(const Answer& answer) {
  if (!may_continue()) return pass_on(reason_of_stop());
  std::string text = answer.text();
  const auto page = has_report_ ? std::optional(answer.page()) : std::nullopt;
  if (!may_continue()) return pass_on(reason_of_stop());
  if (auto written = write(page); !written) return pass_on(written.error());
  return text;
}

Result<void> RunOutputs::write(const std::optional<std::string>& page) {
  // The page is staged before the first file appears, because most of its failures occur in staging.
  std::optional<edges::FileSink> page_file;
  if (page) {
    auto staged = folder_.stage_page(*page);
    if (!staged) return pass_on(staged.error());
    page_file = std::move(*staged);
  }
  for (const auto& complete : files_) {
    if (auto completed = complete(); !completed) return completed;
  }
  if (!page_file) return {};
  if (auto written = page_file->commit(); !written) return unwritable(written.error());
  folder_.keep();
  return {};
}

}  // namespace berth::cli
