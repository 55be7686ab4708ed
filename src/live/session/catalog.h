/// The tenants and services that clients have set: names, labels and versions. The session itself runs them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/core/instant.h"
#include "domain/values/rows_blobs.h"
#include "domain/values/slice.h"

namespace berth::live {

using Labels = std::map<std::string, std::string>;

struct ObjectMeta {
  std::uint64_t number = 0;   ///< its first version: no other object of any name has it
  std::uint64_t version = 0;  ///< grows with each change of spec or labels; never used again for this name
  Labels labels;
  Instant created;
  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

struct ServiceEntry {
  ServiceId id;  ///< its place in the scenario
  ObjectMeta meta;
  RowsBlobs blobs = {};  ///< which of its tables were stated by reference
  friend bool operator==(const ServiceEntry&, const ServiceEntry&) = default;

  /// Without `blobs`: the session saves them apart, as its earlier formats have none.
  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.id, self.meta);
  }
};

struct ServiceName {
  std::string tenant;
  std::string name;
  friend auto operator<=>(const ServiceName&, const ServiceName&) = default;
};

/// Versions come from one counter, so none is used twice for any name.
class Catalog {
 public:
  /// Metadata for a new object. Nothing changes until `note`. `given`: versions that will be noted first.
  [[nodiscard]] ObjectMeta new_meta(Labels labels, Instant now, std::uint64_t given = 0) const {
    const std::uint64_t next = last_version_ + given + 1;
    return {.number = next, .version = next, .labels = std::move(labels), .created = now};
  }
  /// The same for an object that gets these labels, or another spec.
  [[nodiscard]] ObjectMeta changed_meta(const ObjectMeta& meta, Labels labels, std::uint64_t given = 0) const {
    const std::uint64_t next = last_version_ + given + 1;
    return {.number = meta.number, .version = next, .labels = std::move(labels), .created = meta.created};
  }
  /// Records that an object was stored with this metadata.
  void note(const ObjectMeta& meta) { last_version_ = std::max(last_version_, meta.version); }
  [[nodiscard]] std::uint64_t last_version() const { return last_version_; }

  std::map<std::string, ObjectMeta> tenants;
  std::map<ServiceName, ServiceEntry> services;

  [[nodiscard]] bool has_services(const std::string& tenant) const {
    const auto first = services.lower_bound({.tenant = tenant, .name = ""});
    return first != services.end() && first->first.tenant == tenant;
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.tenants, self.services, self.last_version_);
  }

 private:
  std::uint64_t last_version_ = 0;
};

/// Why an object was not set or removed.
struct ObjectRefusal {
  enum class Kind : std::uint8_t {
    kNoTenant,     ///< the service's tenant does not exist
    kNotFound,     ///< the object does not exist
    kVersion,      ///< another version is stored, or none
    kHasServices,  ///< the tenant still has services
    kNotRecorded,  ///< the order could not be recorded (SessionListener::record)
    kTooLarge,     ///< all objects would hold more than SessionOptions::held_bytes_max together
  };
  Kind kind = Kind::kNotFound;
  std::optional<std::string> stored_version = std::nullopt;  ///< of kVersion; absent: the object does not exist
  std::string why = {};                                      ///< of kNotRecorded
  std::int64_t held_bytes = 0;                               ///< of kTooLarge: what the objects would hold
  std::int64_t held_bytes_max = 0;                           ///< of kTooLarge
};

/// What setting an object did.
enum class SetResult : std::uint8_t { kCreated, kChanged, kUnchanged };

}  // namespace berth::live
