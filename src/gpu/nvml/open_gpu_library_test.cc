#include "gpu/nvml/open_gpu_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "gpu/nvml/test_simulated.h"
#include "gpu/nvml_abi/codes.h"
#include "gpu/nvml_sim/faults.h"

namespace berth::edges {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Reason = NoGpuLibrary::Reason;

/// Why a library cannot be used.
NoGpuLibrary reason_of(const std::optional<std::string>& path) {
  auto library = open_gpu_library(path);
  EXPECT_FALSE(library.has_value()) << path.value_or("default");
  return library ? NoGpuLibrary{} : library.error();
}

TEST(OpenGpuLibrary, NoLibraryIsAnAnswerThatNamesWhatWasTried) {
  const NoGpuLibrary none = reason_of("/nowhere/libnvidia-ml.so.1");
  EXPECT_EQ(none.reason, Reason::kNotFound);
  ASSERT_THAT(none.attempts, SizeIs(1));
  EXPECT_EQ(none.attempts.front().name, "/nowhere/libnvidia-ml.so.1");
  EXPECT_EQ(
      none.message,
      "wanted NVIDIA's management library, found none: /nowhere/libnvidia-ml.so.1: cannot open shared object file: "
      "No such file or directory");
}

/// In a new process: the simulated library stays loaded, and it has the name that is searched for.
TEST(OpenGpuLibrary, WithoutAPathTheUsualPlacesAreTried) {
  for (const char* path : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/wsl/lib"}) {
    if (std::filesystem::exists(std::filesystem::path(path) / "libnvidia-ml.so.1")) {
      GTEST_SKIP() << "this machine has a library of its own in " << path;
    }
  }
  const auto say_what_was_tried = [] {
    for (const auto& attempt : reason_of(std::nullopt).attempts) std::cerr << attempt.name << '\n';
    ::_exit(0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(say_what_was_tried(), ::testing::ExitedWithCode(0),
              "^libnvidia-ml.so.1\n/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1\n/usr/lib64/libnvidia-ml.so.1\n"
              "/usr/lib/wsl/lib/libnvidia-ml.so.1\n$");
}

TEST(OpenGpuLibrary, AFileThatIsNoLibraryIsNotOne) {
  const std::string path = ::testing::TempDir() + "/not_a_library.so";
  std::ofstream(path) << "text, and enough of it to be read as the header of a file that can be loaded: it is none";
  const NoGpuLibrary none = reason_of(path);
  EXPECT_EQ(none.reason, Reason::kNotFound);
  EXPECT_THAT(none.message, HasSubstr(path + ": "));
}

TEST(OpenGpuLibrary, AnotherLibraryIsShortOfAllFunctions) {
  const NoGpuLibrary none = reason_of("libm.so.6");
  EXPECT_EQ(none.reason, Reason::kFunctionMissing);
  EXPECT_THAT(none.library.path, HasSubstr("/libm.so.6"));
  EXPECT_GE(none.functions_missing.size(), 15U);
  EXPECT_THAT(none.message, HasSubstr("nvmlInit_v2"));
}

class OpenSimulatedLibrary : public OnSimulatedLibrary {};

TEST_F(OpenSimulatedLibrary, SaysWhatItIs) {
  testing::SimulatedMachine machine({"A100-80GB"});
  const auto library = open();
  ASSERT_NE(library, nullptr);
  EXPECT_THAT(library->facts().path, EndsWith("/libberth-nvml-sim.so"));
  EXPECT_EQ(library->facts().driver_version, "580.95");
  EXPECT_EQ(library->facts().library_version, "13.580.95");
}

TEST_F(OpenSimulatedLibrary, MissingFunctionsAreNamed) {
  testing::SimulatedMachine machine({"A100-80GB"});
  const NoGpuLibrary none = reason_of(testing::find_simulated_library(testing::kIncompleteLibrary));
  EXPECT_EQ(none.reason, Reason::kFunctionMissing);
  EXPECT_THAT(none.functions_missing, ElementsAre("nvmlDeviceGetGpuInstances", "nvmlDeviceGetMigMode"));
  EXPECT_EQ(none.message, none.library.path +
                              ": wanted NVIDIA's management library, found a library without "
                              "nvmlDeviceGetGpuInstances, nvmlDeviceGetMigMode");
}

TEST_F(OpenSimulatedLibrary, WithoutADriverTheRefusalIsNamed) {
  const NoGpuLibrary none = reason_of(testing::find_simulated_library(testing::kSimulatedLibrary));
  EXPECT_EQ(none.reason, Reason::kRefused);
  ASSERT_TRUE(none.refusal.has_value());
  EXPECT_EQ(none.refusal->call, "nvmlInit_v2");
  EXPECT_EQ(none.refusal->code_name, "NVML_ERROR_DRIVER_NOT_LOADED");
  EXPECT_THAT(none.message, EndsWith(": nvmlInit_v2 answered NVML_ERROR_DRIVER_NOT_LOADED: The driver is not loaded"));
}

TEST_F(OpenSimulatedLibrary, ARefusalOfTheInitIsToldFromItsLaterCalls) {
  testing::SimulatedMachine machine({"A100-80GB"});
  nvml_sim::FaultRecord fault{.kind = nvml_sim::FaultRecord::kAnswer, .times = 1};
  fault.error = static_cast<std::int32_t>(nvml_abi::Code::kNoPermission);
  nvml_sim::put_text(fault.call, "nvmlInit");
  machine.change(0, [&](nvml_sim::GpuRecord& gpu) { ASSERT_TRUE(nvml_sim::add_fault(gpu, fault)); });
  const NoGpuLibrary none = reason_of(testing::find_simulated_library(testing::kSimulatedLibrary));
  EXPECT_EQ(none.reason, Reason::kRefused);
  EXPECT_THAT(none.message, EndsWith("nvmlInit_v2 answered NVML_ERROR_NO_PERMISSION: The caller has no permission"));
  EXPECT_NE(open(), nullptr);  // the next one succeeds
}

TEST_F(OpenSimulatedLibrary, NoGpusIsAnAnswerOfAWorkingLibrary) {
  testing::SimulatedMachine machine({});
  const NoGpuLibrary none = reason_of(testing::find_simulated_library(testing::kSimulatedLibrary));
  EXPECT_EQ(none.reason, Reason::kNoGpus);
  EXPECT_EQ(none.library.driver_version, "580.95");
  EXPECT_THAT(none.message, EndsWith("/libberth-nvml-sim.so: found no GPU (driver 580.95)"));
}

}  // namespace
}  // namespace berth::edges
