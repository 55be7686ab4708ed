#include "kube/devices/testing/nvidia_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace berth::kube::testing {
namespace {

constexpr const char* kNvidiaDriver = "gpu.nvidia.com";
constexpr int kSlicesOfA100 = 8;
constexpr int kMultiprocessorsOfA100 = 98;

struct PublishedProfile {
  const char* name;
  int id;
  int length;
  int multiprocessors;
  std::vector<int> starts;
};

const std::vector<PublishedProfile>& published_profiles() {
  static const std::vector<PublishedProfile> kProfiles = {{"1g.10gb", 19, 1, 14, {0, 1, 2, 3, 4, 5, 6}},
                                                          {"1g.20gb", 15, 2, 14, {0, 2, 4, 6}},
                                                          {"2g.20gb", 14, 2, 28, {0, 2, 4}},
                                                          {"3g.40gb", 9, 4, 42, {0, 4}},
                                                          {"4g.40gb", 5, 4, 56, {0}},
                                                          {"7g.80gb", 0, 8, 98, {0}}};
  return kProfiles;
}

std::string slice_with(const std::string& node, const std::string& part, const std::string& content) {
  return fmt::format(R"({{"metadata":{{"name":"{0}-{1}","uid":"u-{0}-{1}","resourceVersion":"1"}},)"
                     R"("spec":{{"driver":"{2}","nodeName":"{0}",)"
                     R"("pool":{{"name":"{0}","generation":1,"resourceSliceCount":2}},{3}}}}})",
                     node, part, kNvidiaDriver, content);
}

std::string consumed(int gpu, int start, int length, int multiprocessors) {
  std::vector<std::string> counters = {fmt::format(R"("multiprocessors":{{"value":"{}"}})", multiprocessors)};
  for (int i = start; i < start + length; ++i)
    counters.push_back(fmt::format(R"("memory-slice-{}":{{"value":"1"}})", i));
  return fmt::format(R"("consumesCounters":[{{"counterSet":"gpu-{}-counter-set","counters":{{{}}}}}])", gpu,
                     fmt::join(counters, ","));
}

std::string uuid_of(const std::string& node, int gpu) { return fmt::format("GPU-{}-{}", node, gpu); }

}  // namespace

std::string nvidia_counters_slice(const std::string& node, int gpu_count) {
  std::vector<std::string> sets;
  for (int gpu = 0; gpu < gpu_count; ++gpu) {
    std::vector<std::string> counters = {fmt::format(R"("multiprocessors":{{"value":"{}"}})", kMultiprocessorsOfA100)};
    for (int i = 0; i < kSlicesOfA100; ++i) counters.push_back(fmt::format(R"("memory-slice-{}":{{"value":"1"}})", i));
    sets.push_back(fmt::format(R"({{"name":"gpu-{}-counter-set","counters":{{{}}}}})", gpu, fmt::join(counters, ",")));
  }
  return slice_with(node, "counters", fmt::format(R"("sharedCounters":[{}])", fmt::join(sets, ",")));
}

std::string nvidia_devices_slice(const std::string& node, int gpu_count, const std::string& product) {
  std::vector<std::string> devices;
  for (int gpu = 0; gpu < gpu_count; ++gpu) {
    devices.push_back(fmt::format(R"({{"name":"gpu-{0}","attributes":{{"type":{{"string":"gpu"}},"uuid":{{"string":)"
                                  R"("{1}"}},"productName":{{"string":"{2}"}}}},{3}}})",
                                  gpu, uuid_of(node, gpu), product,
                                  consumed(gpu, 0, kSlicesOfA100, kMultiprocessorsOfA100)));
    for (const PublishedProfile& profile : published_profiles()) {
      for (const int start : profile.starts) {
        std::string short_name = profile.name;
        std::erase(short_name, '.');
        devices.push_back(fmt::format(
            R"({{"name":"gpu-{0}-mig-{1}-{2}-{3}","attributes":{{"type":{{"string":"mig"}},"profile":{{"string":)"
            R"("{4}"}},"parentUUID":{{"string":"{5}"}},"productName":{{"string":"{6}"}}}},{7}}})",
            gpu, short_name, profile.id, start, profile.name, uuid_of(node, gpu), product,
            consumed(gpu, start, profile.length, profile.multiprocessors)));
      }
    }
  }
  return slice_with(node, "devices", fmt::format(R"("devices":[{}])", fmt::join(devices, ",")));
}

std::string nvidia_class(const std::string& name, const std::string& profile) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","resourceVersion":"1"}},"spec":{{"selectors":[{{"cel":{{"expression":)"
      R"("device.driver == '{2}' && device.attributes['{2}'].type == 'mig' && )"
      R"(device.attributes['{2}'].profile == '{1}'"}}}}]}}}})",
      name, profile, kNvidiaDriver);
}

}  // namespace berth::kube::testing
