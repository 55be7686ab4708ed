/// Compares the usage of a session with what its simulated devices remember, unit by unit. It shares no code with the
/// usage book: it looks at the devices repeatedly, and at the end states what each unit was at which time.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "live/session/session.h"
#include "live/session/usage_book.h"

namespace berth::live::testing {

class UsageAuditor {
 public:
  /// Reads an interval that is over, emitted when the session had emitted that many entries.
  void read(const UsageInterval& interval, std::size_t entry_count) { told_.emplace_back(interval, entry_count); }
  /// What was emitted after these entries is lost; `since` is when the last of them happened.
  void lose(std::size_t kept_entries, Instant since);
  /// Looks at the devices. To be called between steps.
  void look(const Session& session);
  /// Violations: a unit that is two things or nothing at a time between second 0 and now, or something else than the
  /// devices said; times that do not add up.
  [[nodiscard]] std::vector<std::string> findings(const Session& session) const;
  [[nodiscard]] std::size_t look_count() const { return looks_.size(); }
  /// How often each word was seen: "held", "changing", ..
  [[nodiscard]] std::map<std::string, int> counts() const;

 private:
  struct Unit {
    std::uint32_t gpu = 0;
    int unit = 0;
    friend auto operator<=>(const Unit&, const Unit&) = default;
  };
  struct Time {
    Instant from;
    Instant to;
    std::string what;
  };

  [[nodiscard]] std::map<Unit, std::vector<Time>> timeline(const Session& session) const;

  std::vector<std::pair<UsageInterval, std::size_t>> told_;
  std::map<Instant, std::map<Unit, std::string>> looks_;  ///< the last one at each instant
};

}  // namespace berth::live::testing
