#include "apps/up/series_options.h"

#include <algorithm>
#include <utility>

#include "apps/up/own_files.h"
#include "edges/sqlite_store/series_file.h"
#include "edges/state_folder/disk_share.h"

namespace berth::up {
namespace {

/// A smaller ring is useless.
constexpr std::int64_t kSeriesBytesMin = std::int64_t{1} << 20U;

}  // namespace

edges::SeriesQueueOptions series_options(
    const std::string& folder, std::int64_t world_epoch_us,
    std::function<void(const std::string& event, const std::string& message)> report) {
  const std::string path = folder + "/series.db";
  const edges::SeriesFileOptions options{
      .world_epoch_us = world_epoch_us,
      .bytes_max = std::max(kSeriesBytesMin, static_cast<std::int64_t>(edges::disk_share_of(folder, kSeriesBytesMax)))};
  edges::SeriesQueueOptions queue;
  queue.open = [path, options] {
    const OwnFilesOnly own_files_only;
    return edges::open_series_file(path, options);
  };
  queue.set_aside = [path] { return edges::set_series_file_aside(path); };
  queue.report = std::move(report);
  return queue;
}

}  // namespace berth::up
