/// What the simulated devices remember, in one SQLite file: a text per GPU, one for the rest of the world and one for
/// its clock, written whenever one changes, and not from the journal. A kill loses nothing of it. A power cut loses
/// what was written since the last `sync`, and leaves a state that was there.
#pragma once

#include <memory>
#include <string>

#include "domain/ports/devices_memory.h"
#include "domain/ports/journal_store.h"

namespace berth::edges {

class DevicesFile {
 public:
  using Memory = DevicesMemory;

  /// All that was written last; nothing of it where there is no file or nothing was written yet. The file is not
  /// changed. kForeign, kNewer, kDamaged, with the GPU, if it is not what was written. `vfs`: a SQLite VFS by name;
  /// empty: the system's files.
  [[nodiscard]] static StoreResult<Memory> read(const std::string& path, const std::string& vfs = "");
  /// Makes the file where it is missing. kForeign, kNewer, kDamaged as for a journal, and nothing is changed.
  [[nodiscard]] static StoreResult<std::unique_ptr<DevicesFile>> open(const std::string& path,
                                                                      const std::string& vfs = "");
  /// For `open`.
  struct State;
  explicit DevicesFile(std::unique_ptr<State> state);
  ~DevicesFile();
  DevicesFile(const DevicesFile&) = delete;
  DevicesFile& operator=(const DevicesFile&) = delete;

  /// All of it, or nothing. The first one has the world.
  [[nodiscard]] StoreResult<void> write(const Memory& memory);
  /// What was written is on the disk afterwards. kFull if there is no space for it.
  [[nodiscard]] StoreResult<void> sync();

 private:
  std::unique_ptr<State> state_;
};

}  // namespace berth::edges
