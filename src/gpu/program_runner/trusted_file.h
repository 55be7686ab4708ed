/// Files that nobody but root and this user can change.
#pragma once

#include <cstddef>
#include <string>

#include "base/core/result.h"

namespace berth::edges {

/// Error (kInvalidInput): the file, or a folder or link on the way to it, belongs to another user, or others may
/// write it. A folder with the sticky bit, such as /tmp, is fine.
[[nodiscard]] Result<void> check_trusted(const std::string& path);

/// The text of a file, and whether it can be trusted as above. Both are said of the file that was opened, whatever
/// the path means by now. Errors: kNotFound, kUnavailable, kInvalidInput (no regular file, more than `bytes_max`).
struct JudgedText {
  std::string text;
  Result<void> is_trusted;
};
[[nodiscard]] Result<JudgedText> read_and_judge(const std::string& path, std::size_t bytes_max);

/// The same, and it is a program.
[[nodiscard]] Result<void> check_trusted_program(const std::string& path);

/// The text of a file that a less privileged user wrote into a folder of its own: a regular file of the folder's owner,
/// and no link. Error: kNotFound, kInvalidInput.
[[nodiscard]] Result<std::string> read_foreign_file(const std::string& folder, const std::string& name,
                                                    std::size_t bytes_max);

}  // namespace berth::edges
