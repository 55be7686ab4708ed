/// The template of the built-in model server (ProgramChoice::template_name).
#pragma once

#include <string_view>

namespace berth {

/// Its parameters are `repository` and `model`.
inline constexpr std::string_view kServeTemplate = "serve";

}  // namespace berth
