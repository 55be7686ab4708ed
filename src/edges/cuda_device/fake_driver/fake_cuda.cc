// Not a driver: answers like libcuda.so.1 on a machine with two devices, for the tests of edges/cuda_device. What is
// free on device N is (N + 1) GB, or BERTH_FAKE_CUDA_FREE; BERTH_FAKE_CUDA_ERROR lets a call fail, such as cuInit.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kDeviceCount = 2;
constexpr int kUnknownError = 999;
int contexts[kDeviceCount] = {0, 1};
thread_local int* current = nullptr;

bool fails(const char* call) {
  const char* failing = std::getenv("BERTH_FAKE_CUDA_ERROR");
  return failing != nullptr && std::strcmp(failing, call) == 0;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return fails("cuInit") ? kUnknownError : 0; }

int cuGetErrorString(int error, const char** text) {
  if (error != kUnknownError) return 1;
  *text = "unknown error (of berth's fake driver)";
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = kDeviceCount;
  return 0;
}

int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}

int cuDeviceGetName(char* name, int bytes, int device) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "Berth's fake CUDA device %d", device);
  return 0;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (fails("cuDevicePrimaryCtxRetain")) return kUnknownError;
  *context = &contexts[device];
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int) { return 0; }

int cuCtxPushCurrent_v2(void* context) {
  current = static_cast<int*>(context);
  return 0;
}

int cuCtxPopCurrent_v2(void** context) {
  *context = current;
  current = nullptr;
  return 0;
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  if (current == nullptr || fails("cuMemGetInfo")) return kUnknownError;
  *total = static_cast<std::size_t>(*current + 1) * 1'000'000'000;
  const char* left = std::getenv("BERTH_FAKE_CUDA_FREE");
  *free = left != nullptr ? std::strtoull(left, nullptr, 10) : *total;
  return 0;
}
}
