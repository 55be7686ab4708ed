#include "gpu/program_runner/program_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace berth::edges {

LogFile::LogFile(std::string path) : path_(std::move(path)) { open(); }

void LogFile::open() {
  constexpr mode_t kMode = 0600;
  file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, kMode));
  size_ = file_.is_open() ? std::max<std::int64_t>(::lseek(file_.number(), 0, SEEK_END), 0) : 0;
}

void LogFile::append(std::string_view text) {
  if (size_ + static_cast<std::int64_t>(text.size()) > kBytesMax) {
    ::rename(path_.c_str(), (path_ + ".1").c_str());
    open();
  }
  // A full disk loses lines; it does not stop the program.
  const ssize_t count = ::write(file_.number(), text.data(), text.size());
  if (count > 0) size_ += count;
}

}  // namespace berth::edges
