#include "models/rows/read_npz.h"

#include <gtest/gtest.h>

#include "models/rows/testing/npz_bytes.h"

namespace berth::models {
namespace {

using berth::testing::deflated;
using berth::testing::npy_of;
using berth::testing::npz_of;
using berth::testing::stored;
using berth::testing::zip_of;
using berth::testing::ZipEntry;

const std::string kArray = npy_of("|u1", "(3,)", "abc");

std::string npz_message(const std::string& bytes) {
  const auto arrays = read_npz(bytes, "rows.npz");
  return arrays ? "no error" : arrays.error().message;
}

TEST(ReadNpz, ReadsStoredAndDeflatedArrays) {
  const auto arrays = read_npz(zip_of({stored("b.npy", kArray), deflated("a/x:0.npy", kArray)}), "rows.npz");
  ASSERT_TRUE(arrays) << arrays.error().message;
  EXPECT_EQ(*arrays, (std::vector<Tensor>{
                         {.name = "b", .type = TensorType::kUint8, .shape = {3}, .bytes = "abc"},
                         {.name = "a/x:0", .type = TensorType::kUint8, .shape = {3}, .bytes = "abc"},
                     }));
}

TEST(ReadNpz, RefusesWhatIsNoArchive) {
  EXPECT_NE(npz_message("").find("rows.npz: wanted "), std::string::npos) << npz_message("");
  EXPECT_NE(npz_message("no archive").find("wanted an archive of NumPy (.npz), found none"), std::string::npos);
  EXPECT_NE(npz_message(kArray).find("wanted an archive of NumPy"), std::string::npos);
  EXPECT_EQ(npz_message(zip_of({})), "rows.npz: wanted arrays, found none");
  EXPECT_EQ(npz_message(zip_of({stored("notes.txt", "x")})),
            "rows.npz: wanted arrays (.npy) only, found \"notes.txt\"");
  EXPECT_EQ(npz_message(npz_of({{"x", "no array"}})),
            "rows.npz: \"x\": wanted an array of NumPy (.npy), found other bytes");
}

TEST(ReadNpz, RefusesTwoArraysOfOneName) { EXPECT_NE(npz_message(npz_of({{"x", kArray}, {"x", kArray}})), "no error"); }

TEST(ReadNpz, FindsDamage) {
  const std::string whole = npz_of({{"x", kArray}, {"y", kArray}});
  ASSERT_EQ(npz_message(whole), "no error");
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read_npz(whole.substr(0, size), "n")) << size;
  std::string damaged = whole;
  damaged[whole.find("abc")] = 'x';
  EXPECT_NE(npz_message(damaged).find("CRC"), std::string::npos) << npz_message(damaged);
}

TEST(ReadNpz, RefusesDeclaredSizesThatCannotBe) {
  ZipEntry bomb = deflated("x.npy", kArray);
  bomb.unpacked = 0xF0000000U;
  EXPECT_NE(npz_message(zip_of({bomb})).find("wanted at most"), std::string::npos) << npz_message(zip_of({bomb}));
  bomb.unpacked = 100'000'000;
  EXPECT_NE(npz_message(zip_of({bomb})).find("that come from its"), std::string::npos) << npz_message(zip_of({bomb}));
  for (const std::uint32_t size : {0U, 1U, 127U, 132U, 1000U}) {
    bomb.unpacked = size;
    EXPECT_NE(npz_message(zip_of({bomb})), "no error") << size;
  }
}

TEST(ReadNpz, RefusesOtherMethods) {
  ZipEntry entry = stored("x.npy", kArray);
  entry.method = 12;
  EXPECT_NE(npz_message(zip_of({entry})).find("wanted it stored or deflated, found method 12"), std::string::npos);
}

}  // namespace
}  // namespace berth::models
