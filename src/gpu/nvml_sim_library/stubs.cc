// All other functions of NVML: they are exported, so that a client that looks functions up late finds them, and return
// kNotSupported. In the conventions of C on x86-64 and aarch64 the caller removes the arguments, so a function may
// ignore them.
#include "gpu/nvml_sim_library/exports.h"

namespace berth::nvml_abi {
namespace {

using edges::library;

Code refuse_question(const char* name) {
  return library().describe(name, Code::kSuccess, [](const nvml_sim::MachineRecord&) { return Code::kNotSupported; });
}

/// It would change a device, so the device counts the call.
Code refuse_change(const char* name, Device device) {
  return library().change(
      {.name = name, .handle = device, .takes = edges::kTakesDevice},
      [](nvml_sim::GpuRecord&, edges::Target&, const nvml_sim::Caller&) { return Code::kNotSupported; });
}

}  // namespace

extern "C" {
#define BERTH_NVML_STUB(name) \
  [[gnu::visibility("default")]] Code name() { return refuse_question(#name); }
#define BERTH_NVML_CHANGE(name) \
  [[gnu::visibility("default")]] Code name(Device device) { return refuse_change(#name, device); }
#define BERTH_NVML_CHANGE_OTHER(name) BERTH_NVML_STUB(name)
#include "gpu/nvml_abi/functions.inc"
}

}  // namespace berth::nvml_abi
