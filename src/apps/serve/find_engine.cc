#include "apps/serve/find_engine.h"

#ifdef BERTH_HAS_ONNX_ENGINE
#include "edges/onnx_engine/onnx_engine.h"
#include "edges/onnx_engine/onnx_library.h"
#endif

namespace berth::serve {

#ifdef BERTH_HAS_ONNX_ENGINE

Result<std::unique_ptr<ModelEngine>> find_engine(const std::optional<std::string>& path) {
  return edges::open_onnx_engine(path.value_or(edges::onnx_library_path()));
}

#else

Result<std::unique_ptr<ModelEngine>> find_engine(const std::optional<std::string>&) {
  return invalid(
      "wanted a program that was built with the headers of ONNX Runtime, found one without; scripts/setup gets them, "
      "then "
      "build it again");
}

#endif

}  // namespace berth::serve
