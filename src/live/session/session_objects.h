/// The objects of a session: tenants and services, which of them may be set, how many bytes they hold together, and
/// which place a new service takes. It decides and stores; the session runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "base/core/shared_list.h"
#include "domain/values/scenario.h"
#include "live/session/catalog.h"
#include "live/session/entry.h"

namespace berth {
class ArchiveReader;
class ArchiveWriter;
struct Snapshot;
}  // namespace berth

namespace berth::live {

class OrderBatch;

/// A service as a client states it.
struct StatedService {
  ServiceName name;
  ServiceSpec spec;
  Labels labels;
  std::optional<std::string> version;  ///< that must be stored; absent: any, or none
  RowsBlobs blobs = {};
};

/// Decides whether a place may be taken.
struct PlaceState {
  const Snapshot& snapshot;
  bool is_solving = false;                       ///< a question is open
  std::function<bool(ServiceId)> is_world_free;  ///< nothing of a removed service runs any more
};

class SessionObjects {
 public:
  /// Has the scenario's services and their tenants. `scenario` is borrowed; its services are changed by the session.
  SessionObjects(const Scenario& scenario, std::int64_t held_bytes_max);

  [[nodiscard]] const Catalog& catalog() const { return catalog_; }
  /// What all objects hold. O(objects).
  [[nodiscard]] std::int64_t held_bytes() const;

  // What an order would store, or why it is refused. Nothing changes; nothing to store: it is stored already.
  [[nodiscard]] tl::expected<std::optional<TenantStored>, ObjectRefusal> check_tenant(
      const std::string& name, Labels labels, const std::optional<std::string>& version, Instant now) const;
  [[nodiscard]] tl::expected<TenantDropped, ObjectRefusal> check_tenant_removal(
      const std::string& name, const std::optional<std::string>& version) const;
  /// Why a client that saw that version may not set it now, whatever the spec.
  [[nodiscard]] std::optional<ObjectRefusal> find_refusal(const ServiceName& name,
                                                          const std::optional<std::string>& version) const;
  /// Adds the order that sets the service to the batch, or nothing if it is so already.
  [[nodiscard]] tl::expected<SetResult, ObjectRefusal> add_service(OrderBatch& batch, StatedService write,
                                                                   const PlaceState& places, Instant now) const;
  [[nodiscard]] tl::expected<void, ObjectRefusal> add_removal(OrderBatch& batch, const ServiceName& name,
                                                              const std::optional<std::string>& version,
                                                              Instant now) const;

  void store(const TenantStored& stored);
  void store(const TenantDropped& dropped) { catalog_.tenants.erase(dropped.name); }
  /// Returns whether the service is new. To be called before the scenario has its spec.
  bool store(const ServiceStored& stored);
  void store(const ServiceDropped& dropped);
  /// Records that the engine asked the question of that number.
  void set_asked(std::uint64_t question) { asked_count_ = question; }

  // As bytes, in three parts: services of the scenario, catalog, places, and last the blobs.
  void archive_catalog(ArchiveWriter& archive) const;
  void archive_catalog(ArchiveReader& archive);
  void archive_places(ArchiveWriter& archive) const;
  void archive_places(ArchiveReader& archive);
  void archive_blobs(ArchiveWriter& archive) const;
  void archive_blobs(ArchiveReader& archive);
  /// Services unchanged since the beginning are not written again: their arrivals may be long tables.
  void archive_services(ArchiveWriter& archive) const;
  /// Returns the services; those of the beginning where the archive fails.
  [[nodiscard]] SharedList<ServiceSpec> read_services(ArchiveReader& archive) const;

 private:
  /// The service's bytes of held_bytes_max. The tables of a service unchanged since the beginning do not count.
  [[nodiscard]] std::int64_t held_by(const ServiceEntry& service) const;
  /// The refusal if objects would exceed the limit with that growth, after that of the batch. O(objects) if they grow.
  [[nodiscard]] std::optional<ObjectRefusal> find_excess(std::int64_t growth, std::int64_t batch_growth) const;
  /// A place that nothing refers to any more, else a new one. O(places + slices).
  [[nodiscard]] ServiceId place_for_new(const OrderBatch& batch, const PlaceState& places) const;
  /// Whether the open question was asked while the service of that place still existed.
  [[nodiscard]] bool is_in_open_question(ServiceId place, bool is_solving) const;

  const Scenario& scenario_;
  SharedList<ServiceSpec> first_services_;  ///< those that it was made with
  std::int64_t held_bytes_max_;
  Catalog catalog_;
  std::uint64_t last_revision_ = 0;
  std::uint64_t asked_count_ = 0;                    ///< SolveRequest::question of the latest one
  std::map<ServiceId, std::uint64_t> asked_before_;  ///< `asked_count_` when the service of a free place was removed
};

}  // namespace berth::live
