#include "apps/serve/find_engine.h"

#include <utility>

#ifdef BERTH_HAS_ONNX_ENGINE
#include "edges/onnx_engine/onnx_engine.h"
#include "edges/onnx_engine/onnx_library.h"
#endif

namespace berth::serve {

#ifdef BERTH_HAS_ONNX_ENGINE

Result<std::unique_ptr<ModelEngine>> find_engine(const serving::ServeRequest& request,
                                                 std::function<void(const std::string&)> report) {
  return edges::open_onnx_engine({.library_path = request.engine.value_or(edges::onnx_library_path()),
                                  .cache = request.cache,
                                  .report = std::move(report)});
}

#else

Result<std::unique_ptr<ModelEngine>> find_engine(const serving::ServeRequest&,
                                                 std::function<void(const std::string&)>) {
  return invalid(
      "wanted a program that was built with the headers of ONNX Runtime, found one without; scripts/setup gets them, "
      "then "
      "build it again");
}

#endif

}  // namespace berth::serve
