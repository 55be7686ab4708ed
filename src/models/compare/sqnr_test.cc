#include "models/compare/sqnr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace berth::models {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double db(const std::vector<float>& original, const std::vector<float>& variant) { return sqnr_db(original, variant); }

TEST(Sqnr, IsTheRatioOfSignalAndNoise) {
  EXPECT_NEAR(db({10, 0}, {9, 0}), 20, 1e-9);
  EXPECT_NEAR(db({3, 4}, {3, 5}), 10 * std::log10(25.0), 1e-9);
  EXPECT_EQ(db({1, 2}, {1, 2}), kInfinity);
  EXPECT_EQ(db({}, {}), kInfinity);
  EXPECT_EQ(db({0, 0}, {1, 0}), -kInfinity);
}

TEST(Sqnr, ValuesThatAreNotFinite) {
  EXPECT_EQ(db({1, 2}, {1, kNan}), -kInfinity);
  EXPECT_EQ(db({1, 2}, {kInfinity, 2}), -kInfinity);
  EXPECT_NEAR(db({10, -kInfinity}, {9, -kInfinity}), 20, 1e-9) << "as the original's";
}

Tensor tensor_with(TensorType type, const void* bytes, std::size_t size, std::int64_t count) {
  return {.name = "y", .type = type, .shape = {count}, .bytes = std::string(static_cast<const char*>(bytes), size)};
}

TEST(Sqnr, TakesTheFirstOutputOfAFloatType) {
  const std::vector<std::int64_t> index = {3};
  const std::vector<double> original = {10, 0};
  const std::vector<double> variant = {9, 0};
  const Tensor integer = tensor_with(TensorType::kInt64, index.data(), 8, 1);
  const std::vector<Tensor> was = {integer, tensor_with(TensorType::kFp64, original.data(), 16, 2)};
  const std::vector<Tensor> is = {integer, tensor_with(TensorType::kFp64, variant.data(), 16, 2)};
  EXPECT_NEAR(sqnr_db(was, is), 20, 1e-9);
  EXPECT_EQ(sqnr_db(std::vector<Tensor>{integer}, std::vector<Tensor>{integer}), kInfinity);
}

TEST(Sqnr, NoiseOfEachRow) {
  const std::vector<float> original = {1, 2, 3, 4, -kInfinity, 6};
  const std::vector<float> variant = {1, 2, 5, 3, -kInfinity, kNan};
  const auto tensors = [](const std::vector<float>& values) {
    return std::vector<Tensor>{tensor_with(TensorType::kFp32, values.data(), 4 * values.size(), 6)};
  };
  EXPECT_EQ(row_noise(tensors(original), tensors(variant), 3), (std::vector<double>{0, 5, kInfinity}));
}

TEST(Sqnr, ReadsHalfPrecision) {
  const std::vector<std::uint16_t> halves = {0x3C00, 0xC000, 0x0001, 0x7BFF};  // 1, -2, 2^-24, 65504
  const std::vector<float> values = {1, -2, 0x1p-24F, 65504};
  const std::vector<std::uint16_t> zeros(4);
  // All is noise: the signal is the sum of squares, and so is the noise.
  const std::vector<Tensor> was = {tensor_with(TensorType::kFp16, halves.data(), 8, 4)};
  EXPECT_NEAR(sqnr_db(was, std::vector<Tensor>{tensor_with(TensorType::kFp16, zeros.data(), 8, 4)}), 0, 1e-12);
  EXPECT_EQ(sqnr_db(was, std::vector<Tensor>{tensor_with(TensorType::kFp32, values.data(), 16, 4)}), kInfinity);
  const std::vector<std::uint16_t> brains = {0x3F80, 0xC000};  // 1, -2
  EXPECT_EQ(sqnr_db(std::vector<Tensor>{tensor_with(TensorType::kBf16, brains.data(), 4, 2)},
                    std::vector<Tensor>{tensor_with(TensorType::kFp32, values.data(), 8, 2)}),
            kInfinity);
}

}  // namespace
}  // namespace berth::models
