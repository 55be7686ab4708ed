/// Files that only their owner can read.
#pragma once

#include <sys/stat.h>

namespace berth::up {

/// While it exists, new files of all threads are accessible to their owner only.
class OwnFilesOnly {
 public:
  OwnFilesOnly() : before_(::umask(S_IRWXG | S_IRWXO)) {}
  OwnFilesOnly(const OwnFilesOnly&) = delete;
  OwnFilesOnly& operator=(const OwnFilesOnly&) = delete;
  ~OwnFilesOnly() { ::umask(before_); }

 private:
  mode_t before_;
};

}  // namespace berth::up
