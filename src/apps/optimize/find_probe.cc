#include "apps/optimize/find_probe.h"

#include <utility>

#ifdef BERTH_HAS_ONNX_ENGINE
#include "edges/onnx_probe/footprint_process.h"
#include "edges/onnx_probe/onnx_probe.h"
#include "edges/onnx_runtime/onnx_library.h"
#endif

namespace berth::optimizer {

#ifdef BERTH_HAS_ONNX_ENGINE

Result<FoundProbe> find_probe(const ProbeTerms& terms) {
  const std::string library = terms.library      ? *terms.library
                              : terms.cuda_index ? edges::onnx_cuda_library_path()
                                                 : edges::onnx_library_path();
  FoundProbe found;
  if (terms.cuda_index) {
    if (auto provider = edges::find_cuda_provider(library, *terms.cuda_index); !provider) {
      return pass_on(provider.error());
    }
    auto cuda = edges::CudaDevice::open(*terms.cuda_index);
    if (!cuda) return invalid("--device " + cuda.error().message);
    found.cuda = *std::move(cuda);
  }
  auto probe = edges::open_onnx_probe({.library_path = library,
                                       .cuda = found.cuda.get(),
                                       .footprint_command = {"/proc/self/exe", kFootprintWord},
                                       .is_stopped = terms.is_stopped});
  if (!probe) return pass_on(probe.error());
  found.probe = *std::move(probe);
  return found;
}

int footprint_main(std::span<const std::string> arguments) { return edges::footprint_process(arguments); }

#else

Result<FoundProbe> find_probe(const ProbeTerms&) {
  return invalid(
      "wanted a program that was built with the headers of ONNX Runtime, found one without; scripts/setup gets them, "
      "then build it again");
}

int footprint_main(std::span<const std::string>) { return 2; }

#endif

}  // namespace berth::optimizer
