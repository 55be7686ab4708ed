/// The keys of the spec of a service, as the API reads it: one table, from which the readers take the names and words
/// that they accept, and schemas their properties. What they mean: docs/reference/scenario.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace berth::scenario {

enum class KeyKind : std::uint8_t {
  kText,  ///< 1 to `length_max` bytes
  kNumber,
  kWhole,  ///< an integer
  kTruth,
  kChoice,  ///< one of `words`
  kMap,     ///< with the keys `below`
  kTexts,   ///< a map from any key to a text
  kMaps,    ///< a list of maps with the keys `below`
  kNames,   ///< a list of texts, not empty
  kNumberOrMap,
  kChoiceOrMap,
  kTemplate,  ///< a map whose keys others define
};

/// Which numbers are accepted.
struct KeyBounds {
  std::int64_t min = 0;
  std::int64_t max = 0;
  bool is_min_allowed = true;
  bool is_max_allowed = true;
};

struct ServiceKey;

/// Keys of one map, in the order of the reference.
struct KeyList {
  const ServiceKey* first = nullptr;
  std::size_t count = 0;
  [[nodiscard]] const ServiceKey* begin() const { return first; }
  [[nodiscard]] const ServiceKey* end() const;
};

struct ServiceKey {
  std::string_view name;
  KeyKind kind = KeyKind::kText;
  std::string_view help;     ///< one sentence, in plain text
  bool is_required = false;  ///< in its map
  std::optional<KeyBounds> bounds = std::nullopt;
  std::span<const std::string_view> words = {};
  KeyList below = {};
  std::size_t length_max = 200;  ///< of a text, in bytes
  std::size_t count_min = 0;     ///< of the items of a list
  std::size_t count_max = 0;     ///< 0: it has no limit of its own
};

inline const ServiceKey* KeyList::end() const { return first + count; }

/// The keys of the spec itself.
[[nodiscard]] KeyList service_keys();

/// The names of the keys of the map at a path such as "slo" or "retraining.seconds_on"; "": of the spec.
/// Requires: there is such a map in the table.
[[nodiscard]] std::vector<std::string_view> key_names(std::string_view path);

inline constexpr std::array<std::string_view, 2> kDropWords = {"early", "never"};
inline constexpr std::array<std::string_view, 4> kIsolationWords = {"gpu", "mig", "mps", "timeslice"};
inline constexpr std::array<std::string_view, 2> kUnfinishedWords = {"abandon", "continue"};
/// The formats of arrivals without files: rows by second, and generators.
inline constexpr std::array<std::string_view, 5> kArrivalWords = {"csv", "constant", "poisson", "bursty", "diurnal"};

}  // namespace berth::scenario
