#include "domain/ports/testing/memory_series.h"

#include <algorithm>
#include <utility>

namespace berth::testing {
namespace {

constexpr std::int64_t kMinuteSeconds = 60;

using Ring = std::map<std::int64_t, SeriesSpan>;

class MemorySeriesWriter : public SeriesWriter {
 public:
  explicit MemorySeriesWriter(std::shared_ptr<MemorySeries> memory) : memory_(std::move(memory)) {}

  [[nodiscard]] StoreResult<void> append(const SeriesBatch& batch) override {
    const std::scoped_lock hold(memory_->lock);
    if (memory_->trouble) return tl::unexpected(*memory_->trouble);
    for (const SeriesSpan& span : batch.seconds) add(memory_->seconds, span);
    for (const SeriesSpan& span : batch.minutes) add(memory_->minutes, span);
    for (Ring* ring : {&memory_->seconds, &memory_->minutes}) {
      ring->erase(ring->begin(), ring->lower_bound(batch.keep_from));
      while (ring->size() > memory_->spans_max) ring->erase(ring->begin());
    }
    return {};
  }

  [[nodiscard]] StoreResult<void> discard_from(std::int64_t second) override {
    const std::scoped_lock hold(memory_->lock);
    if (memory_->trouble) return tl::unexpected(*memory_->trouble);
    memory_->seconds.erase(memory_->seconds.lower_bound(second), memory_->seconds.end());
    memory_->minutes.erase(memory_->minutes.upper_bound(second - kMinuteSeconds), memory_->minutes.end());
    return {};
  }

 private:
  void add(Ring& ring, const SeriesSpan& span) {
    SeriesSpan& kept = ring[span.second];
    kept.second = span.second;
    for (const ServiceFigures& each : span.services) {
      std::erase_if(kept.services, [&](const ServiceFigures& old) { return old.service == each.service; });
      kept.services.push_back(each);
    }
    std::ranges::sort(kept.services, {}, &ServiceFigures::service);
    if (span.fleet) kept.fleet = span.fleet;
    for (const SeriesName& name : span.names) memory_->names[name.service] = name;
  }

  std::shared_ptr<MemorySeries> memory_;
};

class MemorySeriesReader : public SeriesReader {
 public:
  explicit MemorySeriesReader(std::shared_ptr<MemorySeries> memory) : memory_(std::move(memory)) {}

  [[nodiscard]] StoreResult<std::optional<Range>> range(SeriesRing ring) override {
    const std::scoped_lock hold(memory_->lock);
    if (memory_->unreadable) return tl::unexpected(*memory_->unreadable);
    const Ring& spans = ring_of(ring);
    if (spans.empty()) return std::nullopt;
    return Range{.first = spans.begin()->first, .last = spans.rbegin()->first};
  }

  [[nodiscard]] StoreResult<std::vector<SeriesSpan>> read(const SeriesQuery& query) override {
    const std::scoped_lock hold(memory_->lock);
    if (memory_->unreadable) return tl::unexpected(*memory_->unreadable);
    const Ring& spans = ring_of(query.ring);
    std::vector<SeriesSpan> found;
    for (auto it = spans.lower_bound(query.from); it != spans.end() && it->first < query.to; ++it) {
      SeriesSpan span = it->second;
      if (query.service) {
        std::erase_if(span.services, [&](const ServiceFigures& each) { return each.service != *query.service; });
        if (*query.service != kAllServices) span.fleet.reset();
      }
      if (!span.services.empty() || span.fleet) found.push_back(std::move(span));
    }
    return found;
  }

 private:
  [[nodiscard]] const Ring& ring_of(SeriesRing ring) const {
    return ring == SeriesRing::kSeconds ? memory_->seconds : memory_->minutes;
  }

  std::shared_ptr<MemorySeries> memory_;
};

}  // namespace

SeriesStore open_memory_series(std::shared_ptr<MemorySeries> memory) {
  return {.writer = std::make_unique<MemorySeriesWriter>(memory),
          .reader = std::make_unique<MemorySeriesReader>(std::move(memory))};
}

}  // namespace berth::testing
