/// The bytes of an engine's memory: the only source that knows how to make them.
#include "engine/loop/engine_memory.h"

#include "base/core/archive.h"

namespace berth {
namespace {

template <class Archive, class Self>
void archive_engine(Archive& archive, Self& self) {
  int format = self.speeds.empty() ? kEngineMemoryFormat : kEngineMemoryFormatOfSpeeds;
  archive(format);
  if (!archive.require(kEngineMemoryFormatMin <= format && format <= kEngineMemoryFormatOfSpeeds)) return;
  archive(self.cluster, self.question_count, self.proposal, self.changed_gpus, self.no_changes, self.stages);
  if (format > kEngineMemoryFormatMin) archive(self.measured_times);
  if (format >= kEngineMemoryFormatOfSpeeds) archive(self.speeds);
  archive.require(is_sound(self.no_changes));
  for (const auto& [change, time] : self.measured_times) archive.require(time.median >= Micros());
  for (const auto& [place, speed] : self.speeds) archive.require(speed.factor.sign() > 0);
}

}  // namespace

void EngineMemory::archive_fields(ArchiveWriter& archive, const EngineMemory& memory) {
  archive_engine(archive, memory);
}

void EngineMemory::archive_fields(ArchiveReader& archive, EngineMemory& memory) { archive_engine(archive, memory); }

}  // namespace berth
