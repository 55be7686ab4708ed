/// How the C library gives memory back to the system.
#pragma once

namespace berth::serve {

/// From now on what models free can be given back, by `malloc_trim`. For the process; before its first thread.
void let_memory_be_given_back();

}  // namespace berth::serve
