#include "models/ranges/quantization.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::models {
namespace {

constexpr QuantizedType kUnsigned = {};
constexpr QuantizedType kSigned = {.is_signed = true};
constexpr QuantizedType kSymmetric = {.is_signed = true, .is_symmetric = true};
constexpr QuantizedType kSevenBits = {.bits = 7};

TEST(Quantization, Integers) {
  EXPECT_EQ(kUnsigned.integer_min(), 0);
  EXPECT_EQ(kUnsigned.integer_max(), 255);
  EXPECT_EQ(kSigned.integer_min(), -128);
  EXPECT_EQ(kSigned.integer_max(), 127);
  EXPECT_EQ(kSymmetric.integer_min(), -127);
  EXPECT_EQ(kSevenBits.integer_max(), 127);
}

TEST(Quantization, ByHand) {
  EXPECT_EQ(quantization_of({.min = 0, .max = 255}, kUnsigned), (Quantization{.scale = 1, .zero_point = 0}));
  EXPECT_EQ(quantization_of({.min = -51, .max = 204}, kUnsigned), (Quantization{.scale = 1, .zero_point = 51}));
  EXPECT_EQ(quantization_of({.min = -51, .max = 204}, kSigned), (Quantization{.scale = 1, .zero_point = -77}));
  EXPECT_EQ(quantization_of({.min = -51, .max = 254}, kSymmetric), (Quantization{.scale = 2, .zero_point = 0}));
  EXPECT_EQ(quantization_of({.min = -127, .max = 0}, kSevenBits), (Quantization{.scale = 1, .zero_point = 127}));
}

TEST(Quantization, ContainsZero) {
  EXPECT_EQ(quantization_of({.min = 10, .max = 255}, kUnsigned), (Quantization{.scale = 1, .zero_point = 0}));
  EXPECT_EQ(quantization_of({.min = -255, .max = -10}, kUnsigned), (Quantization{.scale = 1, .zero_point = 255}));
}

TEST(Quantization, OfNothingButZero) {
  EXPECT_EQ(quantization_of({}, kUnsigned), (Quantization{.scale = 1, .zero_point = 0}));
  EXPECT_EQ(quantization_of({}, kSigned), (Quantization{.scale = 1, .zero_point = -128}));
  EXPECT_EQ(quantization_of({}, kSymmetric), (Quantization{.scale = 1, .zero_point = 0}));
}

TEST(Quantization, OfTheSmallestAndTheLargestFloats) {
  const float largest = std::numeric_limits<float>::max();
  const float smallest = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(quantization_of({.min = 0, .max = smallest}, kUnsigned).scale, std::numeric_limits<float>::min());
  const Quantization whole = quantization_of({.min = -largest, .max = largest}, kUnsigned);
  EXPECT_LT(whole.scale, largest);
  EXPECT_EQ(whole.zero_point, 128);
}

TEST(Quantization, RoundsTiesToEvenAndSaturates) {
  const Quantization quantization = {.scale = 2, .zero_point = 10};
  EXPECT_EQ(quantized(1, quantization, kUnsigned), 10);
  EXPECT_EQ(quantized(3, quantization, kUnsigned), 12);
  EXPECT_EQ(quantized(-1000, quantization, kUnsigned), 0);
  EXPECT_EQ(quantized(1000, quantization, kUnsigned), 255);
  EXPECT_EQ(dequantized(12, quantization), 4);
}

}  // namespace
}  // namespace berth::models
