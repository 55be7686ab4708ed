// What Writer writes has the bytes of the library's own documents, compact and indented.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/json/writer.h"

namespace berth::json {
namespace {

using Json = nlohmann::ordered_json;

/// Draws a document in the library's form, and writes it with Writer.
class Draw {
 public:
  Draw(std::uint64_t seed, int indent) : rng_(seed), writer_(indent) {}

  Json value(int depth) {
    switch (rng_.below(depth > 0 ? 8 : 6)) {
      case 0:
        writer_.value(nullptr);
        return nullptr;
      case 1:
        return kept(rng_.below(2) == 0);
      case 2:
        return kept(static_cast<std::int64_t>(rng_()));
      case 3:
        return kept(rng_());
      case 4:
        return kept(number());
      case 5:
        return kept(text());
      case 6:
        return list(depth);
      default:
        return object(depth);
    }
  }

  std::string take() { return writer_.take(); }

 private:
  template <class T>
  Json kept(const T& value) {
    writer_.value(value);
    return value;
  }

  double number() {
    const double fraction = static_cast<double>(static_cast<std::int64_t>(rng_.below(2'000'001)) - 1'000'000) / 1000;
    return std::ldexp(fraction, static_cast<int>(rng_.below(200)) - 100);
  }

  /// Any bytes: not all of it is UTF-8.
  std::string text() {
    std::string text;
    for (std::uint64_t i = rng_.below(8); i > 0; --i) {
      text += rng_.below(2) == 0 ? static_cast<char>('a' + rng_.below(26)) : static_cast<char>(rng_.below(256));
    }
    return text;
  }

  Json list(int depth) {
    Json list = Json::array();
    writer_.open_list();
    for (std::uint64_t i = rng_.below(4); i > 0; --i) list.push_back(value(depth - 1));
    writer_.close_list();
    return list;
  }

  Json object(int depth) {
    Json object = Json::object();
    writer_.open_object();
    for (std::uint64_t i = rng_.below(4); i > 0; --i) {
      const std::string key = text() + std::to_string(i);
      writer_.key(key);
      object[key] = value(depth - 1);
    }
    writer_.close_object();
    return object;
  }

  Rng rng_;
  Writer writer_;
};

RC_GTEST_PROP(JsonWriterProperty, HasTheBytesOfTheLibrary, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const int indent = *rc::gen::elementOf(std::vector<int>{Writer::kCompact, 0, 2, 4});
  Draw draw(seed, indent);
  const Json document = draw.value(5);
  RC_ASSERT(draw.take() == document.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace
}  // namespace berth::json
