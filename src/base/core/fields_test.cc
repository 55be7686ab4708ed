#include "base/core/fields.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/decimal.h"

namespace berth {
namespace {

struct Nothing {};
struct Point {
  int x = 1;
  double y = 2;
};
/// Fields of every kind of type that can be constructed from others in several ways.
struct Mixed {
  std::optional<std::string> maybe;
  std::variant<int, std::string, double> either;
  std::array<std::array<float, 2>, 3> grid{};
  std::function<void()> call;
  std::shared_ptr<const Point> shared;
  std::vector<std::vector<int>> lists;
  std::map<int, Point> map;
  std::pair<int, std::string> pair;
  Decimal decimal = Decimal(3);
  Point point;
  const char* text = nullptr;
};
struct Most {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t;
};
class Closed {
 public:
  explicit Closed(int value) : value_(value) {}
  [[nodiscard]] int value() const { return value_; }

 private:
  int value_;
};

static_assert(kFieldCount<Nothing> == 0);
static_assert(kFieldCount<Point> == 2);
static_assert(kFieldCount<Mixed> == 11);
static_assert(kFieldCount<Most> == 20);
static_assert(!PlainStruct<Closed> && !PlainStruct<std::string> && !PlainStruct<int> && !PlainStruct<Decimal>);
static_assert(!PlainStruct<std::array<int, 3>>);
static_assert(std::is_same_v<decltype(fields_of(std::declval<const Point&>())), std::tuple<const int&, const double&>>);

TEST(Fields, AreReferencesInTheirOrder) {
  Point point;
  auto [x, y] = fields_of(point);
  x = 5;
  y = 7.5;
  EXPECT_EQ(point.x, 5);
  EXPECT_EQ(point.y, 7.5);
  Most most{};
  std::get<0>(fields_of(most)) = 1;
  std::get<19>(fields_of(most)) = 20;
  EXPECT_EQ(most.a, 1);
  EXPECT_EQ(most.t, 20);
}

}  // namespace
}  // namespace berth
