#include "kube/fleet/testing/nvidia_pool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/json/document.h"
#include "domain/mig/catalogue.h"

namespace berth::kube::testing {
namespace {

constexpr const char* kDriver = "gpu.nvidia.com";

std::string slice_of(const NvidiaPool& pool, const std::string& part, int generation, const std::string& content) {
  return fmt::format(R"({{"metadata":{{"name":"{0}-{1}","uid":"u-{0}-{1}","resourceVersion":"1"}},)"
                     R"("spec":{{"driver":"{2}","nodeName":"{0}",)"
                     R"("pool":{{"name":"{0}","generation":{3},"resourceSliceCount":2}},{4}}}}})",
                     pool.node, part, kDriver, generation, content);
}

std::string memory_slices(int start, int count) {
  std::vector<std::string> counters;
  for (int i = start; i < start + count; ++i)
    counters.push_back(fmt::format(R"("memory-slice-{}":{{"value":"1"}})", i));
  return fmt::format("{}", fmt::join(counters, ","));
}

std::string device_of(int gpu, const std::string& name, const std::string& attributes, const std::string& counters) {
  return fmt::format(R"({{"name":"{}","attributes":{{{}}},"consumesCounters":[{{"counterSet":"gpu-{}-counter-set",)"
                     R"("counters":{{{}}}}}]}})",
                     name, attributes, gpu, counters);
}

}  // namespace

std::string nvidia_counters(const NvidiaPool& pool, int generation) {
  const GpuModel model = mig::find_gpu_model(pool.model).value();
  std::vector<std::string> sets;
  for (int gpu = 0; gpu < pool.gpu_count; ++gpu) {
    sets.push_back(
        fmt::format(R"({{"name":"gpu-{}-counter-set","counters":{{{}}}}})", gpu, memory_slices(0, model.units)));
  }
  return slice_of(pool, "counters", generation, fmt::format(R"("sharedCounters":[{}])", fmt::join(sets, ",")));
}

std::string nvidia_devices(const NvidiaPool& pool, int generation) {
  const GpuModel model = mig::find_gpu_model(pool.model).value();
  std::vector<std::string> devices;
  for (int gpu = 0; gpu < pool.gpu_count; ++gpu) {
    const std::string product = fmt::format(R"("productName":{{"string":"{}"}})", pool.product);
    const std::string uuid = fmt::format("GPU-{}-{}", pool.node, gpu);
    devices.push_back(device_of(gpu, fmt::format("gpu-{}", gpu),
                                fmt::format(R"("type":{{"string":"gpu"}},"uuid":{{"string":"{}"}},{})", uuid, product),
                                memory_slices(0, model.units)));
    for (const MigProfile& profile : model.profiles) {
      if (profile.media != MediaEngines::kOwnShare || profile.is_graphics) continue;
      for (const int start : profile.starts) {
        devices.push_back(device_of(
            gpu, fmt::format("gpu-{}-mig-{}-{}-{}", gpu, profile.name, profile.device_profile_id, start),
            fmt::format(R"("type":{{"string":"mig"}},"parentUUID":{{"string":"{}"}},"profile":{{"string":"{}"}},{})",
                        uuid, profile.name, product),
            memory_slices(start, profile.length)));
      }
    }
  }
  return slice_of(pool, "devices", generation, fmt::format(R"("devices":[{}])", fmt::join(devices, ",")));
}

void put_pool(Inventory& inventory, const NvidiaPool& pool) {
  for (const std::string& text : {nvidia_counters(pool), nvidia_devices(pool)}) {
    const Change change = change_of(text);
    static_cast<void>(inventory.put_slice(change.identity.name.name, &change.object));
  }
}

Change change_of(const std::string& object, ChangeKind kind) {
  auto node = json::parse_document(object, "object").value();
  auto identity = identity_of(node).value();
  return {.kind = kind, .identity = std::move(identity), .object = std::move(node)};
}

}  // namespace berth::kube::testing
