// Any bytes give a model that is written, and read again as the same; or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/ensure.h"
#include "models/graph/graph_edit.h"
#include "models/onnx/check_model.h"
#include "models/onnx/read_model.h"
#include "models/onnx/write_model.h"

namespace {

using namespace berth;

/// A megabyte at most, so that no tensor takes the memory of the machine.
Result<std::string> zeros(const std::string& path, std::uint64_t, std::uint64_t bytes) {
  ENSURE(!path.empty() && path.front() != '/' && path != ".." && !path.starts_with("../") && bytes > 0);
  if (bytes > (1U << 20)) return invalid("too large");
  return std::string(static_cast<std::size_t>(bytes), '\0');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  Result<models::Model> model = models::read_model({reinterpret_cast<const char*>(bytes), size}, "fuzz", zeros);
  if (!model) {
    ENSURE(model.error().message.starts_with("fuzz: "));
    return 0;
  }
  const std::string written = models::write_model(*model).value();
  const Result<models::Model> again = models::read_model(written, "fuzz", zeros);
  ENSURE(again);
  ENSURE(models::write_model(*again).value() == written);
  (void)models::check_model(*model);
  models::remove_dead(model->graph);
  ENSURE(models::check_names(model->graph) && models::sort_nodes(model->graph) && models::check_names(model->graph));
  return 0;
}
