/// What is done about each error code (XID) that the driver reports: data with a date, in share/health/xid.yaml.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth::health {

enum class XidAction : std::uint8_t {
  kIgnore,
  kWatch,       ///< the GPU is suspect; nothing else happens
  kRestartApp,  ///< the program of the slice is started again; where no slice is named: watched
  kDrain,       ///< work moves away, then the GPU is quarantined
  kManual,      ///< nothing new on the GPU; somebody has to look
};

/// The words of the file, by XidAction.
inline constexpr std::array<std::string_view, 5> kXidActionWords = {"ignore", "watch", "restart_app", "drain",
                                                                    "manual"};
[[nodiscard]] constexpr std::string_view word(XidAction action) {
  return kXidActionWords[static_cast<std::size_t>(action)];
}

/// Codes are below this.
inline constexpr std::int64_t kXidEnd = 100'000;

struct XidRule {
  XidAction action = XidAction::kWatch;
  bool is_listed = false;    ///< in a group of the policy
  std::string meaning = {};  ///< empty: none is stated
  friend bool operator==(const XidRule&, const XidRule&) = default;
};

struct XidPolicy {
  std::string as_of;   ///< date of the data: "2025-10"
  std::string source;  ///< in words
  std::map<std::uint64_t, XidAction> actions;
  std::map<std::uint64_t, std::string> meanings;

  /// The rule for a code: `watch` for one that no group lists.
  [[nodiscard]] XidRule rule_for(std::uint64_t xid) const;
  friend bool operator==(const XidPolicy&, const XidPolicy&) = default;
};

/// The policy that the program contains.
[[nodiscard]] const XidPolicy& built_in_xid_policy();

/// A file of that form. Codes are numbers or ranges "96-105", each in one group only. Errors name the place.
[[nodiscard]] Result<XidPolicy> read_xid_policy(std::string_view text, std::string_view file);

/// What the driver's recovery action asks for, such as "drain_and_reset"; `none` asks for nothing, and is kIgnore.
/// Resets and reboots are never done here: they drain. An unknown action needs somebody to look.
[[nodiscard]] XidAction action_of_recovery(std::string_view recovery_action);

}  // namespace berth::health
