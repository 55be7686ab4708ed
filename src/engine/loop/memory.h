/// What the engine and its stages remember, as values and bytes: an engine that is restored from it goes on as the one
/// that was saved, with the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "domain/values/change_times.h"
#include "domain/values/no_changes.h"
#include "engine/loop/proposal.h"
#include "engine/state/cluster_state.h"

namespace berth {

/// How that which somebody remembers is saved and loaded: a stage, a policy, a source of forecasts. Both are empty for
/// those that remember nothing, or nothing that does not follow from the scenario and the snapshot.
struct Memory {
  /// Requires: no question is open.
  std::function<void(ArchiveWriter&)> save;
  /// Into one that was made for the scenario as it is now, and was not used yet. If the archive fails, it is useless.
  std::function<void(ArchiveReader&)> load;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    if constexpr (Archive::kReads) {
      if (self.load) self.load(archive);
    } else {
      if (self.save) self.save(archive);
    }
  }
};

/// The memory of an object that the archive knows.
template <class T>
[[nodiscard]] Memory memory_of(const std::shared_ptr<T>& object) {
  return {.save = [object](ArchiveWriter& archive) { archive(std::as_const(*object)); },
          .load = [object](ArchiveReader& archive) { archive(*object); }};
}

/// To be raised whenever the bytes of an EngineMemory, or of the memory of some stage, mean something else than before:
/// after an upgrade they are then refused. A stage's bytes can be refused alone. Bytes of an engine's format 2 have no
/// measured times.
inline constexpr int kEngineMemoryFormat = 3;
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
  std::vector<StageMemory> stages;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    int format = kEngineMemoryFormat;
    archive(format);
    if (!archive.require(kEngineMemoryFormatMin <= format && format <= kEngineMemoryFormat)) return;
    archive(self.cluster, self.question_count, self.proposal, self.changed_gpus, self.no_changes, self.stages);
    if (format > kEngineMemoryFormatMin) archive(self.measured_times);
    archive.require(is_sound(self.no_changes));
    for (const auto& [change, time] : self.measured_times) archive.require(time.median >= Micros());
  }
};

}  // namespace berth
