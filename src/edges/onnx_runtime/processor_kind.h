/// The kind of processor, as far as models run differently on it.
#pragma once

#include <string>

namespace berth::edges {

/// "x86-64-avx2", with "-vnni" where the processor has these instructions.
[[nodiscard]] std::string processor_kind();

}  // namespace berth::edges
