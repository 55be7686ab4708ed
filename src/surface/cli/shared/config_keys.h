/// Every key of the configuration file, for its reader, its reference page and the help of the flags.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "surface/cli/shared/up_options.h"

namespace berth::cli {

/// When another value of a key takes effect.
enum class ConfigReload : std::uint8_t {
  kAtOnce,   ///< when the process rereads the file after SIGHUP
  kRestart,  ///< at the next start
  kWorld,    ///< only in a new folder: the world of a folder keeps its first value
};

struct ConfigKey {
  std::string_view name;      ///< "retention.events_days"; "no_changes[].days": of each item of a list
  std::string_view value;     ///< the placeholder of its value in the help: "FILE"
  std::string_view fallback;  ///< its default, in words; empty: none
  std::string_view meaning;
  ConfigReload reload = ConfigReload::kRestart;
  std::optional<std::string> UpOptions::* option = nullptr;  ///< of a key with a flag
  std::string_view flag = {};                                ///< its name, if it is another one
  std::int64_t live::Retention::* days = nullptr;            ///< of the keys of `retention`

  /// Requires: it has a flag.
  [[nodiscard]] std::string_view flag_name() const { return flag.empty() ? name : flag; }
};

/// All keys, in the order of the help and of the page.
[[nodiscard]] std::span<const ConfigKey> config_keys();

/// The keys of the map at a path ("" for the whole file, "retention", "no_changes[]"), in order.
[[nodiscard]] std::vector<std::string_view> keys_within(std::string_view path);

}  // namespace berth::cli
