/// Where progress is shown.
#pragma once

#include <cstdio>

namespace berth::cli {

struct ProgressOutput {
  std::FILE* stream = nullptr;  ///< null: nowhere
  bool is_terminal = false;     ///< it understands colours and cursor movement, so that a line can be redrawn
};

}  // namespace berth::cli
