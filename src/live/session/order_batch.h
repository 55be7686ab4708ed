/// Orders about services that are recorded together and then carried out in one step. Each is checked against the
/// session and against the earlier ones of the batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "live/session/catalog.h"
#include "live/session/entry.h"

namespace berth::live {

class OrderBatch {
 public:
  OrderBatch();
  OrderBatch(const OrderBatch&);
  OrderBatch& operator=(const OrderBatch&);
  OrderBatch(OrderBatch&&) noexcept;
  OrderBatch& operator=(OrderBatch&&) noexcept;
  ~OrderBatch();

  /// Whether an order about the service can be checked before the batch is carried out. If not, it has to wait: the
  /// batch has one about the same service, or one with pins, which concern other services, too.
  [[nodiscard]] bool has_room_for(const ServiceName& name, bool has_pins) const;
  /// In the order in which they were added.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

  /// How many versions and revisions its orders use, and how many new places they add at the end.
  [[nodiscard]] std::uint64_t version_count() const { return version_count_; }
  [[nodiscard]] std::uint64_t revision_count() const { return revision_count_; }
  [[nodiscard]] std::uint32_t new_place_count() const { return new_place_count_; }
  /// By how many bytes its orders make all services grow; what removals free does not count.
  [[nodiscard]] std::int64_t held_growth() const { return held_growth_; }
  void note_held_growth(std::int64_t bytes) { held_growth_ += bytes; }
  /// Whether it gives that place to a new service.
  [[nodiscard]] bool takes(ServiceId place) const { return places_.contains(place); }

  /// Its removals, as a batch: none of them depends on the other orders.
  [[nodiscard]] OrderBatch removals() const;

  /// Adds an order that sets a service. `place_count`: of the session. Requires: has_room_for.
  void set(Instant at, ServiceStored stored, bool is_new, std::size_t place_count);
  /// The same for an order that removes one.
  void remove(Instant at, ServiceDropped dropped);

 private:
  std::vector<Entry> entries_;
  std::set<ServiceName> services_;
  std::set<ServiceId> places_;
  std::uint64_t version_count_ = 0;
  std::uint64_t revision_count_ = 0;
  std::uint32_t new_place_count_ = 0;
  std::int64_t held_growth_ = 0;
  bool has_pins_ = false;
};

}  // namespace berth::live
