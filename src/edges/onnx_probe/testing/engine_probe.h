// The real engine for tests of what asks it, where its library is installed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "domain/ports/model_probe.h"
#include "edges/onnx_probe/onnx_probe.h"
#include "edges/onnx_runtime/onnx_library.h"

namespace berth::testing {

/// Tests with `probe()`. They are skipped where the library is missing, with the reason.
class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string library = edges::onnx_library_path();
    if (!std::filesystem::exists(library)) GTEST_SKIP() << "no " << library << ": scripts/setup";
    auto opened = edges::open_onnx_probe({.library_path = library});
    ASSERT_TRUE(opened) << opened.error().message;
    probe_ = std::move(*opened);
  }
  [[nodiscard]] ModelProbe& probe() { return *probe_; }

 private:
  std::unique_ptr<ModelProbe> probe_;
};

}  // namespace berth::testing
