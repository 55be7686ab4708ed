#include "models/rows/read_npy.h"

#include <gtest/gtest.h>

#include "models/rows/testing/npz_bytes.h"

namespace berth::models {
namespace {

using berth::testing::little_endian;
using berth::testing::npy_of;
using Sizes = std::vector<std::int64_t>;

std::string npy_message(const std::string& bytes) {
  const auto array = read_npy(bytes, "a");
  return array ? "no error" : array.error().message;
}

TEST(ReadNpy, ReadsEachTypeOfNumber) {
  struct Case {
    const char* descr;
    TensorType type;
    std::size_t bytes;
  };
  const std::vector<Case> cases = {
      {"|b1", TensorType::kBool, 1},   {"|i1", TensorType::kInt8, 1},   {"<i2", TensorType::kInt16, 2},
      {"<i4", TensorType::kInt32, 4},  {"<i8", TensorType::kInt64, 8},  {"|u1", TensorType::kUint8, 1},
      {"<u2", TensorType::kUint16, 2}, {"<u4", TensorType::kUint32, 4}, {"<u8", TensorType::kUint64, 8},
      {"<f2", TensorType::kFp16, 2},   {"<f4", TensorType::kFp32, 4},   {"<f8", TensorType::kFp64, 8},
  };
  for (const Case& each : cases) {
    const std::string elements(3 * each.bytes, '\1');
    EXPECT_EQ(read_npy(npy_of(each.descr, "(3,)", elements), "a").value(),
              (Tensor{.name = "a", .type = each.type, .shape = {3}, .bytes = elements}))
        << each.descr;
  }
}

TEST(ReadNpy, ReadsShapesAndVersions) {
  EXPECT_EQ(read_npy(npy_of("|u1", "()", "x"), "a").value().shape, Sizes{});
  EXPECT_EQ(read_npy(npy_of("|u1", "(2, 3)", "abcdef"), "a").value().shape, (Sizes{2, 3}));
  EXPECT_EQ(read_npy(npy_of("|u1", "(2L, 0L)", ""), "a").value().shape, (Sizes{2, 0}));
  EXPECT_EQ(read_npy(npy_of("|u1", "(0, 9223372036854775807)", ""), "a").value().bytes, "");
  for (const int version : {1, 2, 3}) {
    const std::string dictionary = R"({"shape": (1, 2), "fortran_order": False, "descr": "|u1"})";
    EXPECT_EQ(read_npy(npy_of(dictionary, "ab", version), "a").value().bytes, "ab") << version;
  }
}

TEST(ReadNpy, TurnsBigEndianAndFortranOrderAround) {
  EXPECT_EQ(read_npy(npy_of(">u2", "(2,)", std::string("\0\1\2\3", 4)), "a").value().bytes, std::string("\1\0\3\2", 4));
  // [[a b c] [d e f]], whose columns come first.
  EXPECT_EQ(read_npy(npy_of("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "adbecf"), "a").value().bytes,
            "abcdef");
  const std::string cube = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2)}";
  // Element [i][j][k] is at i + 2 j + 6 k.
  EXPECT_EQ(read_npy(npy_of(cube, "abcdefghijkl"), "a").value().bytes, "agciekbhdjfl");
  EXPECT_EQ(read_npy(npy_of("{'descr': '>u2', 'fortran_order': True, 'shape': (2, 2)}", "aAbBcCdD"), "a").value().bytes,
            "AaCcBbDd");
}

TEST(ReadNpy, ReadsTexts) {
  EXPECT_EQ(read_npy(npy_of("|S3", "(3,)", std::string("a\0\0abc\0b\0", 9)), "a").value().texts,
            (std::vector<std::string>{"a", "abc", std::string("\0b", 2)}));
  std::string letters;
  for (const std::uint32_t letter : {0x41U, 0xE9U, 0x20ACU, 0x1F600U}) letters += little_endian(letter, 4);
  const auto array = read_npy(npy_of("<U2", "(2,)", letters), "a").value();
  EXPECT_EQ(array.type, TensorType::kBytes);
  EXPECT_EQ(array.texts, (std::vector<std::string>{"A\xC3\xA9", "\xE2\x82\xAC\xF0\x9F\x98\x80"}));
  EXPECT_TRUE(array.bytes.empty());
  EXPECT_EQ(read_npy(npy_of(">U1", "(1,)", std::string("\0\0\0A", 4)), "a").value().texts[0], "A");
  EXPECT_EQ(read_npy(npy_of("<U0", "(2,)", ""), "a").value().texts, (std::vector<std::string>{"", ""}));
  EXPECT_EQ(npy_message(npy_of("<U1", "(1,)", little_endian(0xD800, 4))),
            "element 0: wanted Unicode characters, found another number");
}

TEST(ReadNpy, RefusesOtherTypes) {
  for (const char* descr : {"<c8", "|O", "<M8[ns]", "<f16", "|V4", "<i3", "f", "", "<f4x", "|S99999999999"}) {
    EXPECT_NE(npy_message(npy_of(descr, "(1,)", "aaaaaaaa")).find("wanted elements of a type"), std::string::npos)
        << descr;
  }
}

TEST(ReadNpy, RefusesWhatIsNoArray) {
  EXPECT_EQ(npy_message(""), "wanted an array of NumPy (.npy), found other bytes");
  EXPECT_EQ(npy_message("\x93NUMPX"), "wanted an array of NumPy (.npy), found other bytes");
  EXPECT_EQ(npy_message("\x93NUMPY"), "wanted version 1 to 3 of .npy, found 0");
  EXPECT_EQ(npy_message(std::string("\x93NUMPY\4\0\0\0", 10)), "wanted version 1 to 3 of .npy, found 4");
  const std::string whole = npy_of("<f4", "(2,)", "abcdefgh");
  ASSERT_TRUE(read_npy(whole, "a"));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read_npy(whole.substr(0, size), "a")) << size;
  EXPECT_EQ(npy_message(whole + "x"), "wanted 8 bytes of elements, as the shape says, found 9");
}

TEST(ReadNpy, RefusesOtherHeaders) {
  for (const char* dictionary :
       {"{}", "{'descr': '|u1', 'fortran_order': False}", "{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': [('x', '|u1')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1,,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} 1", "{'descr': '|u1"}) {
    EXPECT_NE(npy_message(npy_of(dictionary, "x")).find("wanted a header with"), std::string::npos) << dictionary;
  }
}

TEST(ReadNpy, RefusesSizesThatOverflow) {
  for (const char* shape :
       {"(4294967296, 4294967296)", "(9223372036854775807, 9223372036854775807)", "(2147483649,)"}) {
    EXPECT_NE(npy_message(npy_of("|u1", shape, "x")).find("a shape that takes more"), std::string::npos) << shape;
    EXPECT_NE(npy_message(npy_of("<U0", shape, "")).find("a shape that takes more"), std::string::npos) << shape;
  }
}

}  // namespace
}  // namespace berth::models
