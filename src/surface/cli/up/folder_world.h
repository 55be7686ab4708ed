/// Which world a folder of `berth up` has: the one that was recorded there, or a new one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "domain/ports/journal_store.h"
#include "domain/values/scenario.h"
#include "surface/cli/up/up_history.h"
#include "surface/cli/up/up_options.h"

namespace berth::cli {

struct FolderWorld {
  Beginning beginning;
  RecordedFiles files;  ///< of the scenario
  Scenario scenario;
  std::optional<std::vector<device::LocalGpu>> fleet = std::nullopt;  ///< absent: the devices are simulated
  bool has_journal = false;                                           ///< if perhaps an empty one
  std::optional<History> history = std::nullopt;                      ///< without the above; absent: the world is new
};

/// Reads the journal and checks that what is asked for is what it has; where there is none, reads the scenario. Nothing
/// is written. `now_us`: microseconds since 1970, at which a new world begins. `machine`: the GPUs of this machine, for
/// a new local world.
[[nodiscard]] Result<FolderWorld> find_world(const UpRequest& request, const Files& files, const std::string& folder,
                                             std::int64_t now_us, const std::vector<device::LocalGpu>& machine);

[[nodiscard]] std::string journal_path_in(const std::string& folder);
[[nodiscard]] std::string devices_path_in(const std::string& folder);

/// The store's reason, as that of a verb.
[[nodiscard]] tl::unexpected<Error> failed(const StoreError& error);

}  // namespace berth::cli
