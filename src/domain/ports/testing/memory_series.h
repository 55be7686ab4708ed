/// The store of a series in memory, for tests.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "domain/ports/series_store.h"

namespace berth::testing {

/// The state shared by stores that are opened one after the other, like a file. Its members are read under `lock`.
struct MemorySeries {
  std::mutex lock;
  std::map<std::int64_t, SeriesSpan> seconds;
  std::map<std::int64_t, SeriesSpan> minutes;
  std::map<std::uint64_t, SeriesName> names;
  std::size_t spans_max = SIZE_MAX;           ///< of each ring
  std::optional<StoreError> trouble = {};     ///< what calls of writers return
  std::optional<StoreError> unreadable = {};  ///< what calls of readers return
};

[[nodiscard]] SeriesStore open_memory_series(std::shared_ptr<MemorySeries> memory);

}  // namespace berth::testing
