#include "gpu/hands/wake_up.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/core/ensure.h"

namespace berth::edges {

WakeUp::WakeUp() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { ENSURE(event_.is_open()); }

void WakeUp::ring() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_.number(), &one, sizeof(one));
}

void WakeUp::hear() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(event_.number(), &count, sizeof(count));
}

}  // namespace berth::edges
