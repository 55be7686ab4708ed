#include "edges/onnx_runtime/processor_kind.h"

namespace berth::edges {

std::string processor_kind() {
#if defined(__x86_64__)
  std::string kind = "x86-64";
  if (__builtin_cpu_supports("avx")) kind += "-avx";
  if (__builtin_cpu_supports("avx2")) kind = "x86-64-avx2";
  if (__builtin_cpu_supports("avx512f")) kind = "x86-64-avx512";
  if (__builtin_cpu_supports("avx512vnni")) kind += "-vnni";
  return kind;
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "other";
#endif
}

}  // namespace berth::edges
