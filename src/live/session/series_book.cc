#include "live/session/series_book.h"

#include <utility>

namespace berth::live {

std::optional<SeriesSpan> SeriesBook::add(ServiceId place, std::int64_t second, ServiceFigures figures) {
  std::optional<SeriesSpan> before;
  if (span_ && span_->second != second) before = take();
  if (!span_) span_ = SeriesSpan{.second = second};
  if (place.index >= numbers_.size()) numbers_.resize(place.index + std::size_t{1});
  std::uint64_t& number = numbers_[place.index];
  if (number == 0 || second % kNameSeconds == 0) {
    const ServiceSpec& spec = std::as_const(scenario_.services)[place.index];
    const auto known = catalog_.services.find({.tenant = spec.tenant, .name = spec.name});
    if (known == catalog_.services.end()) return before;  // it is gone
    number = known->second.meta.number;
    span_->names.push_back({.service = number, .tenant = spec.tenant, .name = spec.name});
  }
  figures.service = number;
  span_->services.push_back(std::move(figures));
  return before;
}

void SeriesBook::forget(ServiceId place) {
  if (place.index < numbers_.size()) numbers_[place.index] = 0;
}

std::optional<SeriesSpan> SeriesBook::take() { return std::exchange(span_, std::nullopt); }

}  // namespace berth::live
