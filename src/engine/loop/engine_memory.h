/// What the engine and its stages remember, as values and bytes: an engine that is restored from it goes on as the one
/// that was saved, with the same bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/values/change_times.h"
#include "domain/values/no_changes.h"
#include "domain/values/speed_factors.h"
#include "engine/loop/proposal.h"
#include "engine/state/cluster_state.h"

namespace berth {

/// To be raised whenever the bytes of an EngineMemory, or of the memory of some stage, mean something else than before:
/// after an upgrade they are then refused. A stage's bytes can be refused alone. Bytes of an engine's format 2 have no
/// measured times. Format 4 also has speed factors; it is written only where there is one.
inline constexpr int kEngineMemoryFormat = 3;
inline constexpr int kEngineMemoryFormatOfSpeeds = 4;
inline constexpr int kEngineMemoryFormatMin = 2;  ///< still read
inline constexpr int kStageMemoryFormat = 1;

/// The memory of one stage.
struct StageMemory {
  std::string stage;  ///< Stage::name
  int format = kStageMemoryFormat;
  std::string bytes;
  friend bool operator==(const StageMemory&, const StageMemory&) = default;
};

/// Everything that an engine remembers between two steps, besides fleet and services of its scenario. A copy costs
/// little more than the bytes of the stages: the snapshot shares its chunks.
struct EngineMemory {
  ClusterMemory cluster;
  std::uint64_t question_count = 0;
  std::optional<Proposal> proposal;
  ChangedGpus changed_gpus;
  NoChanges no_changes;          ///< of its scenario
  MeasuredTimes measured_times;  ///< of its scenario
  SpeedFactors speeds;           ///< of its scenario
  std::vector<StageMemory> stages;

  static void archive_fields(ArchiveWriter& archive, const EngineMemory& memory);
  static void archive_fields(ArchiveReader& archive, EngineMemory& memory);
};

}  // namespace berth
