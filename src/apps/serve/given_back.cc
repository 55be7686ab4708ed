#include "apps/serve/given_back.h"

#include <malloc.h>

namespace berth::serve {

// Weights are large: by default glibc would raise its threshold and keep them, one copy for most threads. And its fast
// bins join with the free end of an arena only when `malloc_trim` empties them. Of arenas other than the first it does
// not give back that end, which then is, every now and then, most of a model.
void let_memory_be_given_back() {
  constexpr int kLargeBytes = 1024 * 1024;  // less would be given back and taken again for each batch
  constexpr int kArenas = 2;                // for small values
  constexpr int kFastBytes = 0;             // no fast bins; each thread still keeps small values of its own
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_TRIM_THRESHOLD, kLargeBytes);
  mallopt(M_ARENA_MAX, kArenas);
  mallopt(M_MXFAST, kFastBytes);
}

}  // namespace berth::serve
