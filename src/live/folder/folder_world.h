/// Which world a folder of `berth up` has: the one that was recorded there, or a new one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "domain/ports/journal_store.h"
#include "domain/values/scenario.h"
#include "gpu/device/local_gpu.h"
#include "live/folder/history.h"
#include "live/folder/recorded_files.h"
#include "live/folder/up_request.h"

namespace berth::live {

struct FolderWorld {
  Beginning beginning;
  RecordedFiles files;  ///< of the scenario
  Scenario scenario;
  std::optional<std::vector<device::LocalGpu>> fleet = std::nullopt;  ///< absent: the devices are simulated
  bool has_journal = false;                                           ///< it may be empty
  std::optional<History> history = std::nullopt;                      ///< without the above; absent: the world is new
  std::vector<std::string> warnings = {};                             ///< about the scenario's files, in a new world
};

/// The inputs of a start.
struct StartFacts {
  std::string folder;                                 ///< as messages name it
  JournalReader* journal = nullptr;                   ///< borrowed; null: the folder has none
  std::int64_t now_us = 0;                            ///< microseconds since 1970, at which a new world begins
  std::vector<device::LocalGpu> machine = {};         ///< the GPUs of this machine or cluster, for a new world of these
  std::optional<std::string> cluster = std::nullopt;  ///< the uid of the cluster's namespace kube-system
};

/// Reads the journal and checks that the request matches it; without a journal, reads the scenario. Nothing is written.
[[nodiscard]] Result<FolderWorld> find_world(const UpRequest& request, const Files& files, const StartFacts& start);

/// The files of a folder.
[[nodiscard]] std::string journal_path_in(const std::string& folder);
[[nodiscard]] std::string devices_path_in(const std::string& folder);

/// The error of a store as the error of a verb.
[[nodiscard]] tl::unexpected<Error> failed(const StoreError& error);

}  // namespace berth::live
