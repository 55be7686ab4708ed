/// Traced writes that wait for a plan.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/core/instant.h"
#include "domain/tracing/trace_context.h"
#include "live/session/event_log.h"

namespace berth::live {

/// An object as a key of tables.
struct ObjectKey {
  ObjectKind kind = ObjectKind::kGpu;
  std::string tenant;
  std::string name;

  explicit ObjectKey(const ObjectName& object) : kind(object.kind), tenant(object.tenant), name(object.name) {}
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

/// A regular value.
class WriteBook {
 public:
  static constexpr std::size_t kCapacity = 20'000;         ///< beyond it the oldest is forgotten
  static constexpr Micros kAgeMax = Micros::seconds(600);  ///< of the world

  /// A write about that object was recorded at `now`, which never decreases.
  void add(const ObjectName& object, TraceContext context, Instant now);
  /// The number of the latest write; 0: there was none.
  [[nodiscard]] std::uint64_t last_number() const { return last_; }
  /// Takes the writes up to that number about any of the objects that are not too old; the oldest first.
  /// O(objects + writes, each logarithmic).
  [[nodiscard]] std::vector<TraceContext> take(const std::set<ObjectKey>& objects, std::uint64_t up_to, Instant now);
  [[nodiscard]] std::size_t size() const { return notes_.size(); }

 private:
  struct Note {
    ObjectKey object;
    TraceContext context;
    Instant at;
  };
  void forget_old(Instant now);
  void forget(std::map<std::uint64_t, Note>::iterator note);

  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Note> notes_;                     ///< by number
  std::map<ObjectKey, std::set<std::uint64_t>> by_object_;  ///< their numbers
};

}  // namespace berth::live
