// Any bytes are read as a value or refused, with memory proportional to their number; a value that was read survives a
// round trip.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/core/archive.h"
#include "base/core/decimal.h"
#include "base/core/ensure.h"
#include "base/core/instant.h"

namespace {

using namespace berth;

struct Leaf {
  std::uint8_t number = 0;
  std::optional<std::string> text;
  Decimal decimal;
};

struct Tree {
  std::vector<Leaf> leaves;
  std::map<Instant, std::deque<double>> queues;
  std::set<std::string> words;
  std::variant<bool, std::int32_t, Leaf, ChunkedList<std::uint16_t>> either;
  std::vector<std::vector<char>> lists;
  SharedList<Micros> shared;
  std::array<float, 3> rough{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto tree = from_bytes<Tree>({reinterpret_cast<const char*>(bytes), size});
  if (!tree) return 0;
  const std::string written = bytes_of(*tree);
  const auto again = from_bytes<Tree>(written);
  ENSURE(again.has_value());
  ENSURE(bytes_of(*again) == written);
  return 0;
}
