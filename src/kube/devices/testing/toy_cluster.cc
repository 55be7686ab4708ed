#include "kube/devices/testing/toy_cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace berth::kube::testing {
namespace {

constexpr int kMemorySlices = 8;

std::string slice_of(const std::string& node, const std::string& part, int generation, const std::string& content) {
  return fmt::format(R"({{"metadata":{{"name":"{0}-{1}","uid":"u-{0}-{1}","resourceVersion":"1"}},)"
                     R"("spec":{{"driver":"{2}","nodeName":"{0}",)"
                     R"("pool":{{"name":"{0}","generation":{3},"resourceSliceCount":2}},{4}}}}})",
                     node, part, kToyDriver, generation, content);
}

std::string toy_device(const std::string& profile, int start, int size) {
  std::vector<std::string> counters;
  for (int i = start; i < start + size; ++i) counters.push_back(fmt::format(R"("memory-slice-{}":{{"value":"1"}})", i));
  return fmt::format(
      R"({{"name":"gpu-0-mig-{0}-{1}","attributes":{{"profile":{{"string":"{0}"}},"type":{{"string":"mig"}}}},)"
      R"("capacity":{{"memory":{{"value":"{2}Gi"}}}},)"
      R"("consumesCounters":[{{"counterSet":"gpu-0-counter-set","counters":{{{3}}}}}]}})",
      profile, start, size * 10, fmt::join(counters, ","));
}

}  // namespace

std::string counters_slice(const std::string& node, int generation) {
  std::vector<std::string> counters;
  for (int i = 0; i < kMemorySlices; ++i) counters.push_back(fmt::format(R"("memory-slice-{}":{{"value":"1"}})", i));
  return slice_of(
      node, "counters", generation,
      fmt::format(R"("sharedCounters":[{{"name":"gpu-0-counter-set","counters":{{{}}}}}])", fmt::join(counters, ",")));
}

std::string devices_slice(const std::string& node, int generation) {
  std::vector<std::string> devices;
  for (int i = 0; i < 7; ++i) devices.push_back(toy_device("1g", i, 1));
  for (int i = 0; i < 6; i += 2) devices.push_back(toy_device("2g", i, 2));
  for (int i = 0; i < 8; i += 4) devices.push_back(toy_device("3g", i, 4));
  return slice_of(node, "devices", generation, fmt::format(R"("devices":[{}])", fmt::join(devices, ",")));
}

std::string class_of_profile(const std::string& profile) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","resourceVersion":"1"}},"spec":{{"selectors":[{{"cel":{{"expression":)"
      R"("device.driver == '{1}' && device.attributes['{1}'].profile == '{0}'"}}}}]}}}})",
      profile, kToyDriver);
}

std::string claim_on(const std::string& name, const std::string& profile, int version, const std::string& rest) {
  return fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"n","uid":"uid-{0}","resourceVersion":"{1}"}},)"
                     R"("spec":{{"devices":{{"requests":[)"
                     R"({{"name":"slice","exactly":{{"deviceClassName":"{2}"}}}}]}}}}{3}}})",
                     name, version, profile, rest);
}

std::string ready_node(const std::string& name, const std::string& rest_of_spec) {
  return fmt::format(R"({{"metadata":{{"name":"{0}","resourceVersion":"1",)"
                     R"("labels":{{"kubernetes.io/hostname":"{0}"}}}},"spec":{{{1}}},"status":{{)"
                     R"("allocatable":{{"cpu":"8","memory":"32Gi","pods":"20"}},"conditions":[{{"type":"Ready",)"
                     R"("status":"True"}}]}}}})",
                     name, rest_of_spec);
}

std::string gated_pod(const std::string& name, const std::string& claim, int version) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"n","uid":"uid-{0}","resourceVersion":"{2}"}},)"
      R"("spec":{{"schedulingGates":[)"
      R"({{"name":"berth.dev/place"}}],"resourceClaims":[{{"name":"slice","resourceClaimName":"{1}"}}],"containers":[)"
      R"({{"name":"c","resources":{{"requests":{{"cpu":"100m"}}}}}}]}}}})",
      name, claim, version);
}

}  // namespace berth::kube::testing
