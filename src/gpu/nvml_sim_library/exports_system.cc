// The library itself, and queries about the whole machine.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "gpu/nvml_sim_library/exports.h"

namespace berth::nvml_abi {

using edges::library;
using nvml_sim::MachineRecord;

namespace {

/// argv[0] of a process; empty: there is no such process.
std::string name_of_process(std::uint32_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/cmdline";
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(descriptor, bytes.data(), bytes.size() - 1);
  ::close(descriptor);
  return count > 0 ? std::string(bytes.data()) : std::string();
}

/// The CUDA version that a driver came with, times 1000. Source: NVIDIA's table of CUDA and driver versions.
std::int32_t cuda_version_of(std::string_view driver) {
  const int major = std::atoi(std::string(driver.substr(0, driver.find('.'))).c_str());
  if (major >= 580) return 13'000;
  if (major >= 525) return 12'000;
  return 11'000;
}

/// "r580_00" of "580.95.05".
std::string branch_of(std::string_view driver) { return "r" + std::string(driver.substr(0, driver.find('.'))) + "_00"; }

}  // namespace

extern "C" {

Code nvmlInit() { return library().init(__func__); }
Code nvmlInit_v2() { return library().init(__func__); }
Code nvmlInitWithFlags(std::uint32_t) { return library().init(__func__); }
Code nvmlShutdown() { return library().shut_down(); }
const char* nvmlErrorString(Code code) { return message_of(code); }

Code nvmlSystemGetDriverVersion(char* version, std::uint32_t length) {
  return library().describe(__func__, edges::all_given(version),
                            [&](const MachineRecord& machine) { return write_text(machine.driver, version, length); });
}

Code nvmlSystemGetNVMLVersion(char* version, std::uint32_t length) {
  return library().describe(__func__, edges::all_given(version), [&](const MachineRecord& machine) {
    return write_text("13." + std::string(machine.driver), version, length);
  });
}

Code nvmlSystemGetDriverBranch(DriverBranchV1* branch, std::uint32_t) {
  const Code arguments = edges::versioned(branch, version_of<DriverBranchV1>(1), Code::kArgumentVersionMismatch);
  return library().describe(__func__, arguments, [&](const MachineRecord& machine) {
    return write_text(branch_of(machine.driver), branch->branch, sizeof(branch->branch));
  });
}

Code nvmlSystemGetCudaDriverVersion(std::int32_t* version) {
  return library().describe(__func__, edges::all_given(version), [&](const MachineRecord& machine) {
    return write(version, cuda_version_of(machine.driver));
  });
}
Code nvmlSystemGetCudaDriverVersion_v2(std::int32_t* version) { return nvmlSystemGetCudaDriverVersion(version); }

Code nvmlSystemGetProcessName(std::uint32_t pid, char* name, std::uint32_t length) {
  const Code arguments = length == 0 ? Code::kInvalidArgument : edges::all_given(name);
  return library().describe(__func__, arguments, [&](const MachineRecord&) {
    const std::string found = name_of_process(pid);
    if (found.empty()) return Code::kNotFound;
    return write_text(std::string_view(found).substr(0, length - 1), name, length);  // truncated silently, as measured
  });
}

Code nvmlUnitGetCount(std::uint32_t* count) {
  return library().describe(__func__, edges::all_given(count), [&](const MachineRecord&) { return write(count, 0); });
}

Code nvmlGetExcludedDeviceCount(std::uint32_t* count) {
  return library().describe(__func__, edges::all_given(count), [&](const MachineRecord&) { return write(count, 0); });
}
Code nvmlGetBlacklistDeviceCount(std::uint32_t* count) { return nvmlGetExcludedDeviceCount(count); }

}  // extern "C"

}  // namespace berth::nvml_abi
