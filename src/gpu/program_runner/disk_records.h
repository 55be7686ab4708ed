/// Small files that are whole and on the disk, or as they were.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "gpu/hands/descriptor.h"

namespace berth::edges {

/// Writes PATH.new, syncs it, renames it, syncs the folder. Only this user can read it. Error: kUnavailable.
[[nodiscard]] Result<void> write_record(const std::string& path, std::string_view text);
/// kNotFound: there is none; kUnavailable: it cannot be read, or has more than a MiB.
[[nodiscard]] Result<std::string> read_record_file(const std::string& path);

/// Makes a folder with exactly this mode, if it is not there. Error: it cannot be made, or belongs to another user.
[[nodiscard]] Result<void> make_own_folder(const std::string& path, mode_t mode);

/// Takes a lock (flock) on a file, which is made if it is absent. Its descriptor is closed on exec. Closed: another
/// process has it.
enum class LockWait { kNone, kUntilFree };
[[nodiscard]] Result<Descriptor> lock_file(const std::string& path, LockWait wait);

/// The last bytes of a file; empty if there is none.
[[nodiscard]] std::string read_end(const std::string& path, std::size_t bytes_max);

}  // namespace berth::edges
