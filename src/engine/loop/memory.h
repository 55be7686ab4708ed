/// How what a part of the engine remembers is saved and loaded. What all of an engine remembers: engine_memory.h.
#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace berth {

class ArchiveReader;
class ArchiveWriter;

/// How that which somebody remembers is saved and loaded: a stage, a policy, a source of forecasts. Both are empty for
/// those that remember nothing, or nothing that does not follow from the scenario and the snapshot.
struct Memory {
  /// Requires: no question is open.
  std::function<void(ArchiveWriter&)> save;
  /// Into one that was made for the scenario as it is now, and was not used yet. If the archive fails, it is useless.
  std::function<void(ArchiveReader&)> load;

  static void archive_fields(ArchiveWriter& archive, const Memory& memory);
  static void archive_fields(ArchiveReader& archive, Memory& memory);
};

/// The memory of an object that the archive knows. Callers include base/core/archive.h.
template <class T>
[[nodiscard]] Memory memory_of(const std::shared_ptr<T>& object) {
  // The archives are arguments of a template, as this header does without them.
  return {.save = [object](auto& archive) { archive(std::as_const(*object)); },
          .load = [object](auto& archive) { archive(*object); }};
}

}  // namespace berth
