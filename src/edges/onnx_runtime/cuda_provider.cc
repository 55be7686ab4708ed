#include "edges/onnx_runtime/cuda_provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <string_view>

#include "edges/onnx_runtime/onnx_library.h"

namespace berth::edges {
void use_cuda(Ort::SessionOptions& options, const CudaDevice& device) {
  OrtCUDAProviderOptionsV2* made = nullptr;
  Ort::ThrowOnError(Ort::GetApi().CreateCUDAProviderOptions(&made));
  const auto release = [](OrtCUDAProviderOptionsV2* of) { Ort::GetApi().ReleaseCUDAProviderOptions(of); };
  const std::unique_ptr<OrtCUDAProviderOptionsV2, decltype(release)> provider(made, release);
  const std::string index = std::to_string(device.index());
  // The arena grows by what is asked for, not by doubling: others use the card, too. The exhaustive search for
  // algorithms would take seconds for each new shape.
  const std::array<const char*, 3> keys = {"device_id", "arena_extend_strategy", "cudnn_conv_algo_search"};
  const std::array<const char*, 3> values = {index.c_str(), "kSameAsRequested", "HEURISTIC"};
  Ort::ThrowOnError(Ort::GetApi().UpdateCUDAProviderOptions(made, keys.data(), values.data(), keys.size()));
  options.AppendExecutionProvider_CUDA_V2(*made);
}

Result<void> check_cuda_provider(const std::string& library_path, const CudaDevice& device) {
  if (auto found = find_cuda_provider(library_path, device.index()); !found) return found;
  try {
    Ort::SessionOptions options;
    use_cuda(options, device);  // opens the provider and what it needs: CUDA, cuDNN
    return {};
  } catch (const Ort::Exception& exception) {
    return invalid(
        fmt::format("--device cuda:{}: the provider next to {}: {}", device.index(), library_path, exception.what()));
  }
}

bool is_out_of_memory(const std::string& message) {
  constexpr std::array<std::string_view, 4> kSigns = {"out of memory", "Failed to allocate memory",
                                                      "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED"};
  return std::ranges::any_of(kSigns, [&](std::string_view sign) { return message.find(sign) != std::string::npos; });
}

std::string cuda_kind(const CudaDevice& device) {
  std::string kind = "cuda-" + device.name();
  for (char& letter : kind) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '-';
  }
  return kind;
}

}  // namespace berth::edges
