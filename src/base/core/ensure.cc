#include "base/core/ensure.h"

#include <cstdio>
#include <cstdlib>

namespace berth::detail {

void ensure_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "berth: broken invariant at %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace berth::detail
