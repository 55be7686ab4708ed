/// The interface to the store of a world's series: two rings, of seconds and of minutes, whose oldest spans are removed
/// when there are too many. The world does not depend on it: it continues whatever happens to the store.
///
/// Appended data survives a kill, but not a power cut soon after. Writers and readers are separate objects; each is
/// used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "domain/ports/journal_store.h"
#include "domain/values/series.h"

namespace berth {

enum class SeriesRing : std::uint8_t {
  kSeconds,  ///< spans of a second
  kMinutes,  ///< sums of the seconds of a minute, without ServiceFigures::settled
};

/// A write. Spans of an existing second replace its figures of the same services.
struct SeriesBatch {
  std::vector<SeriesSpan> seconds = {};
  std::vector<SeriesSpan> minutes = {};
  std::int64_t keep_from = INT64_MIN;  ///< a second of the world: earlier spans of both rings may be removed
};

class SeriesWriter {
 public:
  virtual ~SeriesWriter() = default;

  /// Adds all of the batch, or nothing (kFull, kFailed, kLocked, kDamaged). Then it removes old spans, a bounded number
  /// each time: those before `keep_from`, and the oldest beyond the size of the store.
  [[nodiscard]] virtual StoreResult<void> append(const SeriesBatch& batch) = 0;
  /// Removes the seconds from that one on, and the minutes that include one of them: the world will run through them
  /// again.
  [[nodiscard]] virtual StoreResult<void> discard_from(std::int64_t second) = 0;
};

/// The spans of a ring that begin in [from, to).
struct SeriesQuery {
  SeriesRing ring = SeriesRing::kSeconds;
  std::int64_t from = 0;
  std::int64_t to = 0;
  /// Only this service, or kAllServices, with the fleet; absent: everything.
  std::optional<std::uint64_t> service = std::nullopt;
};

class SeriesReader {
 public:
  virtual ~SeriesReader() = default;

  /// The first seconds of the oldest and the newest span of a ring.
  struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  /// Absent if there is none.
  [[nodiscard]] virtual StoreResult<std::optional<Range>> range(SeriesRing ring) = 0;
  /// In order, without names. Spans without data are left out. Each row is checked: kDamaged if it is not what was
  /// written. O(spans of the query), or of all services in them if the query names none.
  [[nodiscard]] virtual StoreResult<std::vector<SeriesSpan>> read(const SeriesQuery& query) = 0;
};

/// An open store; the writer is destroyed last.
struct SeriesStore {
  std::unique_ptr<SeriesWriter> writer;
  std::unique_ptr<SeriesReader> reader;
};

}  // namespace berth
