#include "edges/figure_recorder/figure_recorder.h"

#include <chrono>
#include <cstdint>
#include <utility>

#include "serving/figures/series_line.h"

namespace berth::edges {
namespace {

/// Of a file of usage: more lines than a second has.
constexpr std::size_t kLastLinesBytesMax = std::size_t{16} << 20U;

/// Until shortly after the next second of the wall clock begins.
std::chrono::microseconds until_next_second() {
  using std::chrono::microseconds;
  constexpr microseconds kAfter{5'000};
  constexpr microseconds kSecond{1'000'000};
  const auto now = std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch());
  return kSecond - now % kSecond + kAfter;
}

Result<FigureFiles::Usage> open_usage(const std::string& path, const FigureFileOptions& options) {
  auto file = AppendedFile::open(path);
  if (!file) return pass_on(file.error());
  const auto last = file->last_lines(kLastLinesBytesMax);
  if (!last) return pass_on(last.error());
  const std::int64_t until_us = serving::usage_written_until(*last, options.device.gpu);
  auto lines = serving::UsageLines::make(options.device, options.id_prefix, until_us);
  if (!lines) return pass_on(lines.error());
  return FigureFiles::Usage{.file = *std::move(file), .lines = *std::move(lines)};
}

}  // namespace

Result<FigureFiles> open_figure_files(const FigureFileOptions& options) {
  FigureFiles files;
  if (options.series) {
    auto series = AppendedFile::open(*options.series);
    if (!series) return pass_on(series.error());
    files.series.emplace(*std::move(series));
  }
  if (options.usage) {
    auto usage = open_usage(*options.usage, options);
    if (!usage) return pass_on(usage.error());
    files.usage.emplace(*std::move(usage));
  }
  return files;
}

FigureRecorder::FigureRecorder(Options options) : options_(std::move(options)), thread_([this] { run(); }) {}

FigureRecorder::~FigureRecorder() {
  {
    const std::scoped_lock hold(lock_);
    is_stopping_ = true;
  }
  stopping_.notify_all();
  thread_.join();
}

void FigureRecorder::run() {
  std::unique_lock lock(lock_);
  while (!is_stopping_) {
    lock.unlock();
    record(false);
    lock.lock();
    stopping_.wait_for(lock, until_next_second(), [this] { return is_stopping_; });
  }
  lock.unlock();
  record(true);
}

void FigureRecorder::record(bool is_last) {
  const serving::EndedFigures ended = options_.take(is_last);
  if (options_.files.series) {
    write(*options_.files.series, serving::series_lines(ended.seconds), has_series_failed_);
  }
  if (options_.files.usage) {
    auto& [file, lines] = *options_.files.usage;
    std::string text = lines.take(ended.spans);
    if (is_last) text += lines.end();
    write(file, text, has_usage_failed_);
  }
}

void FigureRecorder::write(AppendedFile& file, const std::string& lines, bool& has_failed) {
  const auto written = file.append(lines);
  if (!written && !std::exchange(has_failed, true)) options_.report(written.error().message);
}

}  // namespace berth::edges
