/// Tests on the simulated library.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "gpu/nvml/open_gpu_library.h"
#include "gpu/nvml/testing/simulated_machine.h"

namespace berth::edges {

class OnSimulatedLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::find_simulated_library(testing::kSimulatedLibrary)) {
      GTEST_SKIP() << "no libberth-nvml-sim.so next to BERTH_PROGRAM: builds with sanitizers do not make it";
    }
  }

  [[nodiscard]] static std::unique_ptr<GpuLibrary> open(std::string_view name = testing::kSimulatedLibrary) {
    auto library = open_gpu_library(testing::find_simulated_library(name));
    if (!library) ADD_FAILURE() << library.error().message;
    return library ? std::move(*library) : nullptr;
  }

  /// The facts of the only GPU of a machine.
  [[nodiscard]] static GpuFacts facts_of_one(GpuLibrary& library) {
    const auto listed = library.list();
    if (!listed || listed->size() != 1 || !listed->front().facts) {
      ADD_FAILURE() << "wanted one GPU that can be read";
      return {};
    }
    return *listed->front().facts;
  }
};

}  // namespace berth::edges
