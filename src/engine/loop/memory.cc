#include "engine/loop/memory.h"

#include "base/core/archive.h"

namespace berth {

void Memory::archive_fields(ArchiveWriter& archive, const Memory& memory) {
  if (memory.save) memory.save(archive);
}

void Memory::archive_fields(ArchiveReader& archive, Memory& memory) {
  if (memory.load) memory.load(archive);
}

}  // namespace berth
