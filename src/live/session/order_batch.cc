#include "live/session/order_batch.h"

#include <utility>
#include <variant>

#include "domain/values/service.h"

namespace berth::live {

OrderBatch::OrderBatch() = default;
OrderBatch::OrderBatch(const OrderBatch&) = default;
OrderBatch& OrderBatch::operator=(const OrderBatch&) = default;
OrderBatch::OrderBatch(OrderBatch&&) noexcept = default;
OrderBatch& OrderBatch::operator=(OrderBatch&&) noexcept = default;
OrderBatch::~OrderBatch() = default;

bool OrderBatch::has_room_for(const ServiceName& name, bool has_pins) const {
  return !has_pins_ && !services_.contains(name) && (!has_pins || entries_.empty());
}

OrderBatch OrderBatch::removals() const {
  OrderBatch batch;
  for (const Entry& entry : entries_) {
    if (const auto* dropped = std::get_if<ServiceDropped>(&entry.what)) batch.remove(entry.at, *dropped);
  }
  return batch;
}

void OrderBatch::set(Instant at, ServiceStored stored, bool is_new, std::size_t place_count) {
  services_.insert(stored.name);
  ++version_count_;
  if (stored.set) ++revision_count_;
  if (is_new) places_.insert(stored.entry.id);
  if (stored.entry.id.index >= place_count) ++new_place_count_;
  has_pins_ = stored.set && !stored.set->spec->pins.empty();
  entries_.push_back({.at = at, .what = std::move(stored)});
}

void OrderBatch::remove(Instant at, ServiceDropped dropped) {
  services_.insert(dropped.name);
  entries_.push_back({.at = at, .what = std::move(dropped)});
}

}  // namespace berth::live
