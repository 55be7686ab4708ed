#include "apps/serve/core_count.h"

#include <sched.h>

#include <algorithm>

namespace berth::serve {

int core_count() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::max(CPU_COUNT(&cores), 1);
}

}  // namespace berth::serve
