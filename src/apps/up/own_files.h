/// Files that are made for their owner alone.
#pragma once

#include <sys/stat.h>

namespace berth::up {

/// While it exists, files are made for their owner alone; also those of other threads.
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
