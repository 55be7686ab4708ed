/// The interface to the store of a world's series: two rings, of seconds and of minutes, whose oldest spans go when
/// there are too many. It is no authority: whatever happens to it, the world goes on.
///
/// What was appended survives a kill, but not a power cut soon after it. Writers and readers are separate objects; each
/// is used by one thread at a time.
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

/// What is added at once. Spans of a second that is there replace what is there of the same services.
struct SeriesBatch {
  std::vector<SeriesSpan> seconds = {};
  std::vector<SeriesSpan> minutes = {};
  std::int64_t keep_from = INT64_MIN;  ///< a second of the world: spans that begin before it may go, in both rings
};

class SeriesWriter {
 public:
  virtual ~SeriesWriter() = default;

  /// Adds all of the batch, or nothing (kFull, kFailed, kLocked, kDamaged). Then the oldest spans go, a bounded part of
  /// them each time: those before `keep_from`, and those beyond the size of the store.
  [[nodiscard]] virtual StoreResult<void> append(const SeriesBatch& batch) = 0;
  /// Removes seconds from that one on, and the minutes that count one of them: the world will have them once more.
  [[nodiscard]] virtual StoreResult<void> discard_from(std::int64_t second) = 0;
};

/// Of a ring, the spans that begin in [from, to).
struct SeriesQuery {
  SeriesRing ring = SeriesRing::kSeconds;
  std::int64_t from = 0;
  std::int64_t to = 0;
  /// Of that service alone, or kAllServices, with the fleet; absent: all that is there.
  std::optional<std::uint64_t> service = std::nullopt;
};

class SeriesReader {
 public:
  virtual ~SeriesReader() = default;

  /// The seconds with which the oldest and the newest span of a ring begin.
  struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  /// Absent if there is none.
  [[nodiscard]] virtual StoreResult<std::optional<Range>> range(SeriesRing ring) = 0;
  /// In order, without names. Spans of which nothing is known are left out. Each row is checked: kDamaged if it is not
  /// what was written. Costs the spans of the query, and, without a service, their services.
  [[nodiscard]] virtual StoreResult<std::vector<SeriesSpan>> read(const SeriesQuery& query) = 0;
};

/// An open store; the writer ends last.
struct SeriesStore {
  std::unique_ptr<SeriesWriter> writer;
  std::unique_ptr<SeriesReader> reader;
};

}  // namespace berth
