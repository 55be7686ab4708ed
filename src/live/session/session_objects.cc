#include "live/session/session_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "domain/values/held_bytes.h"
#include "domain/values/snapshot.h"
#include "live/session/order_batch.h"

namespace berth::live {
namespace {

/// Whether a client that saw `version` may set the object.
bool is_version(const std::optional<std::string>& version, const ObjectMeta* stored) {
  if (!version) return true;
  return stored != nullptr && *version == fmt::format("{}", stored->version);
}

ObjectRefusal version_refusal(const ObjectMeta* stored) {
  ObjectRefusal refusal{.kind = ObjectRefusal::Kind::kVersion};
  if (stored != nullptr) refusal.stored_version = fmt::format("{}", stored->version);
  return refusal;
}

/// Whether the numbers of variants mean the same in both.
bool has_same_variants(const ServiceSpec& a, const ServiceSpec& b) {
  return std::ranges::equal(a.variants, b.variants, {}, &Variant::name, &Variant::name);
}

ObjectRefusal refusal_of(ObjectRefusal::Kind kind) { return {.kind = kind}; }

/// The size of a tenant without its labels: its name and numbers.
constexpr std::int64_t kTenantBytes = 256;

tl::unexpected<ObjectRefusal> refuse(ObjectRefusal::Kind kind) { return tl::unexpected(refusal_of(kind)); }

}  // namespace

SessionObjects::SessionObjects(const Scenario& scenario, std::int64_t held_bytes_max)
    : scenario_(scenario), first_services_(scenario.services), held_bytes_max_(held_bytes_max) {
  for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
    const ServiceSpec& spec = scenario_.services[index];
    if (!catalog_.tenants.contains(spec.tenant)) {
      catalog_.tenants[spec.tenant] = catalog_.new_meta({}, Instant());
      catalog_.note(catalog_.tenants[spec.tenant]);
    }
    const ServiceEntry entry{.id = {index}, .meta = catalog_.new_meta({}, Instant())};
    catalog_.services[{.tenant = spec.tenant, .name = spec.name}] = entry;
    catalog_.note(entry.meta);
  }
}

// ---- tenants

tl::expected<std::optional<TenantStored>, ObjectRefusal> SessionObjects::check_tenant(
    const std::string& name, Labels labels, const std::optional<std::string>& version, Instant now) const {
  const auto known = catalog_.tenants.find(name);
  const ObjectMeta* stored = known == catalog_.tenants.end() ? nullptr : &known->second;
  if (!is_version(version, stored)) return tl::unexpected(version_refusal(stored));
  if (stored != nullptr && stored->labels == labels) return std::nullopt;
  const std::int64_t before = stored == nullptr ? -kTenantBytes : berth::held_bytes(stored->labels);
  if (auto excess = find_excess(berth::held_bytes(labels) - before, 0)) return tl::unexpected(*excess);
  return TenantStored{.name = name,
                      .meta = stored == nullptr ? catalog_.new_meta(std::move(labels), now)
                                                : catalog_.changed_meta(*stored, std::move(labels))};
}

tl::expected<TenantDropped, ObjectRefusal> SessionObjects::check_tenant_removal(
    const std::string& name, const std::optional<std::string>& version) const {
  const auto known = catalog_.tenants.find(name);
  if (known == catalog_.tenants.end()) return refuse(ObjectRefusal::Kind::kNotFound);
  if (!is_version(version, &known->second)) return tl::unexpected(version_refusal(&known->second));
  if (catalog_.has_services(name)) return refuse(ObjectRefusal::Kind::kHasServices);
  return TenantDropped{name};
}

void SessionObjects::store(const TenantStored& stored) {
  catalog_.tenants[stored.name] = stored.meta;
  catalog_.note(stored.meta);
}

// ---- services

std::optional<ObjectRefusal> SessionObjects::find_refusal(const ServiceName& name,
                                                          const std::optional<std::string>& version) const {
  if (!catalog_.tenants.contains(name.tenant)) return refusal_of(ObjectRefusal::Kind::kNoTenant);
  const auto known = catalog_.services.find(name);
  const ObjectMeta* stored = known == catalog_.services.end() ? nullptr : &known->second.meta;
  if (is_version(version, stored)) return std::nullopt;
  return version_refusal(stored);
}

tl::expected<SetResult, ObjectRefusal> SessionObjects::add_service(OrderBatch& batch, StatedService write,
                                                                   const PlaceState& places, Instant now) const {
  auto& [name, spec, labels, version, blobs] = write;
  if (auto refusal = find_refusal(name, version)) return tl::unexpected(std::move(*refusal));
  spec.tenant = name.tenant;
  spec.name = name.name;
  const auto known = catalog_.services.find(name);
  const bool is_new = known == catalog_.services.end();
  const ServiceId id = is_new ? place_for_new(batch, places) : known->second.id;
  const ServiceSpec* stored = is_new ? nullptr : &scenario_.services[id.index];
  const bool is_same_spec = stored != nullptr && *stored == spec;
  if (is_same_spec && known->second.meta.labels == labels && known->second.blobs == blobs) return SetResult::kUnchanged;
  const std::int64_t held = berth::held_bytes(spec) + berth::held_bytes(labels) + berth::held_bytes(blobs) +
                            remembered_bytes(scenario_.history_seconds);
  const std::int64_t growth = held - (is_new ? 0 : held_by(known->second));
  if (auto excess = find_excess(growth, batch.held_growth())) return tl::unexpected(*excess);
  batch.note_held_growth(std::max<std::int64_t>(growth, 0));
  const std::uint64_t given = batch.version_count();
  ServiceStored what{.name = name, .entry = {.id = id, .meta = {}, .blobs = std::move(blobs)}, .set = std::nullopt};
  what.entry.meta = is_new ? catalog_.new_meta(std::move(labels), now, given)
                           : catalog_.changed_meta(known->second.meta, std::move(labels), given);
  if (!is_same_spec) {
    what.set = ServiceSet{.service = id,
                          .revision = last_revision_ + batch.revision_count() + 1,
                          .spec = nullptr,
                          .restarts_arrivals = is_new || stored->arrivals != spec.arrivals,
                          .restarts_retraining = is_new || stored->retraining != spec.retraining,
                          .renumbers_variants = !is_new && !has_same_variants(*stored, spec)};
    what.set->spec = std::make_shared<const ServiceSpec>(std::move(spec));
  }
  batch.set(now, std::move(what), is_new, scenario_.services.size());
  return is_new ? SetResult::kCreated : SetResult::kChanged;
}

tl::expected<void, ObjectRefusal> SessionObjects::add_removal(OrderBatch& batch, const ServiceName& name,
                                                              const std::optional<std::string>& version,
                                                              Instant now) const {
  const auto known = catalog_.services.find(name);
  if (known == catalog_.services.end()) return refuse(ObjectRefusal::Kind::kNotFound);
  if (!is_version(version, &known->second.meta)) return tl::unexpected(version_refusal(&known->second.meta));
  batch.remove(now, {.name = name, .id = known->second.id});
  return {};
}

bool SessionObjects::store(const ServiceStored& stored) {
  const bool is_new = !catalog_.services.contains(stored.name);
  catalog_.services[stored.name] = stored.entry;
  catalog_.note(stored.entry.meta);
  if (stored.set) last_revision_ = std::max(last_revision_, stored.set->revision);
  return is_new;
}

void SessionObjects::store(const ServiceDropped& dropped) {
  catalog_.services.erase(dropped.name);
  asked_before_[dropped.id] = asked_count_;
}

ServiceId SessionObjects::place_for_new(const OrderBatch& batch, const PlaceState& places) const {
  const Snapshot& snapshot = places.snapshot;
  std::vector<bool> is_held(scenario_.services.size());
  for (const StandingSlice& standing : snapshot.slices) {
    for (const ServiceId service : standing.holding.services) is_held[service.index] = true;
  }
  // The engine may not know the latest ones yet.
  const std::size_t known = std::min(scenario_.services.size(), snapshot.services.size());
  for (std::uint32_t index = 0; index < known; ++index) {
    const bool is_free = scenario_.services[index].is_absent && snapshot.services[index].is_absent;
    if (!is_free || is_held[index] || batch.takes({index})) continue;
    if (!is_in_open_question({index}, places.is_solving) && places.is_world_free({index})) return {index};
  }
  return {static_cast<std::uint32_t>(scenario_.services.size()) + batch.new_place_count()};
}

bool SessionObjects::is_in_open_question(ServiceId place, bool is_solving) const {
  const auto asked = asked_before_.find(place);
  return is_solving && asked != asked_before_.end() && asked->second == asked_count_;
}

// ---- their size

std::int64_t SessionObjects::held_by(const ServiceEntry& service) const {
  const std::size_t index = service.id.index;
  const bool is_first = index < first_services_.size() && scenario_.services.shares(first_services_, index);
  return remembered_bytes(scenario_.history_seconds) + berth::held_bytes(service.meta.labels) +
         berth::held_bytes(service.blobs) + (is_first ? 0 : berth::held_bytes(scenario_.services[index]));
}

std::int64_t SessionObjects::held_bytes() const {
  std::int64_t held = 0;
  for (const auto& [name, tenant] : catalog_.tenants) held += kTenantBytes + berth::held_bytes(tenant.labels);
  for (const auto& [name, service] : catalog_.services) held += held_by(service);
  return held;
}

std::optional<ObjectRefusal> SessionObjects::find_excess(std::int64_t growth, std::int64_t batch_growth) const {
  if (growth <= 0) return std::nullopt;
  const std::int64_t held = held_bytes() + batch_growth + growth;
  if (held <= held_bytes_max_) return std::nullopt;
  return ObjectRefusal{.kind = ObjectRefusal::Kind::kTooLarge, .held_bytes = held, .held_bytes_max = held_bytes_max_};
}

// ---- as bytes

void SessionObjects::archive_catalog(ArchiveWriter& archive) const { archive(catalog_, last_revision_); }
void SessionObjects::archive_catalog(ArchiveReader& archive) { archive(catalog_, last_revision_); }
void SessionObjects::archive_places(ArchiveWriter& archive) const { archive(asked_count_, asked_before_); }
void SessionObjects::archive_places(ArchiveReader& archive) { archive(asked_count_, asked_before_); }

void SessionObjects::archive_blobs(ArchiveWriter& archive) const {
  std::map<ServiceName, RowsBlobs> blobs;
  for (const auto& [name, service] : catalog_.services) {
    if (!service.blobs.empty()) blobs.emplace(name, service.blobs);
  }
  archive(blobs);
}

void SessionObjects::archive_blobs(ArchiveReader& archive) {
  std::map<ServiceName, RowsBlobs> blobs;
  archive(blobs);
  for (auto& [name, of_service] : blobs) {
    const auto service = catalog_.services.find(name);
    if (!archive.require(service != catalog_.services.end())) return;
    service->second.blobs = std::move(of_service);
  }
}

void SessionObjects::archive_services(ArchiveWriter& archive) const {
  const SharedList<ServiceSpec>& now = scenario_.services;
  const SharedList<ServiceSpec>& first = first_services_;
  std::vector<std::optional<std::shared_ptr<const ServiceSpec>>> changed;
  for (std::size_t index = 0; index < now.size(); ++index) {
    const bool is_first = index < first.size() && (now.shares(first, index) || now[index] == first[index]);
    changed.push_back(is_first ? std::nullopt : std::optional(now.share(index)));
  }
  archive(changed);
}

SharedList<ServiceSpec> SessionObjects::read_services(ArchiveReader& archive) const {
  std::vector<std::optional<std::shared_ptr<const ServiceSpec>>> changed;
  archive(changed);
  if (!archive.require(changed.size() >= first_services_.size())) return first_services_;
  SharedList<ServiceSpec> services = first_services_;
  for (std::size_t index = 0; index < changed.size(); ++index) {
    if (!archive.require(changed[index] || index < first_services_.size())) return first_services_;
    if (changed[index]) services.set_shared(index, std::move(*changed[index]));
  }
  return services;
}

}  // namespace berth::live
