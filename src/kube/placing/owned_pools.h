/// Which pools an operator owns, and the rules by which other allocators are kept away from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kube/client/page.h"
#include "kube/client/write.h"
#include "kube/devices/device.h"

namespace berth::kube {

/// An entry of the configuration.
struct OwnedPools {
  std::string driver;
  std::optional<std::vector<std::string>> pools;  ///< absent: all of the driver
  friend bool operator==(const OwnedPools&, const OwnedPools&) = default;
};

/// The most GPUs of owned pools that an operator plans for.
inline constexpr std::int64_t kOwnedGpusMax = 4096;

[[nodiscard]] bool is_owned(const std::vector<OwnedPools>& own, const PoolName& pool);

/// The label of rules that Berth wrote, so that those of removed entries are found.
inline constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";

/// The pools that rules of Berth name, as entries.
[[nodiscard]] std::vector<OwnedPools> owned_by_rules(const std::vector<PageItem>& rules);

/// A DeviceTaintRule for each entry and pool, as applies.
[[nodiscard]] std::vector<Write> taint_rules(const std::vector<OwnedPools>& own);

}  // namespace berth::kube
