#include "surface/api/spec_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "domain/scenario/service_json.h"
#include "sim/world/testing/scenarios.h"

namespace berth::api {
namespace {

class SpecTextsTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const ServiceSpec> spec_of(const std::string& name, std::int64_t target_ms = 100) {
    ServiceSpec spec = sim::testing::service_of(name, {{.profile = "1g.10gb"}},
                                                sim::testing::generated(Generator::Kind::kConstant, Decimal(1), 600));
    spec.target = Micros(target_ms * 1000);
    return std::make_shared<const ServiceSpec>(std::move(spec));
  }
  std::string text_of(const std::shared_ptr<const ServiceSpec>& spec, const RowsBlobs& blobs = {}) {
    return *texts_.text_of(spec, blobs, fleet_);
  }

  Scenario fleet_ = sim::testing::scenario_of({}, {}, 1);
  SpecTexts texts_;
};

TEST_F(SpecTextsTest, ATextIsThatOfItsSpecAndIsMadeOnce) {
  const auto spec = spec_of("a");
  EXPECT_EQ(text_of(spec), scenario::service_spec_json(*spec, fleet_, {}));
  EXPECT_EQ(texts_.text_of(spec, {}, fleet_), texts_.text_of(spec, {}, fleet_)) << "the same string";
}

TEST_F(SpecTextsTest, OtherReferencesToTablesAreAnotherText) {
  const auto spec = spec_of("a");
  const RowsBlobs blobs = {{"profile", std::string(64, 'a')}};
  const std::string plain = text_of(spec);
  EXPECT_EQ(text_of(spec, blobs), scenario::service_spec_json(*spec, fleet_, blobs));
  EXPECT_NE(text_of(spec, blobs), plain);
  EXPECT_EQ(text_of(spec), plain);
}

TEST_F(SpecTextsTest, ASpecAtTheAddressOfOneThatIsGoneHasItsOwnText) {
  for (int i = 1; i < 2000; ++i) {
    const auto spec = spec_of("a", i);  // most reuse the address of the previous one
    ASSERT_EQ(text_of(spec), scenario::service_spec_json(*spec, fleet_, {})) << i;
  }
}

TEST_F(SpecTextsTest, BeyondItsBoundTextsAreMadeAgain) {
  const auto long_text = std::make_shared<const std::string>(SpecTexts::kBytesMax / 20, 'x');
  std::vector<std::shared_ptr<const ServiceSpec>> specs;
  for (int i = 0; i < 100; ++i) {
    specs.push_back(spec_of("a", i + 1));
    texts_.note(specs.back(), {}, long_text);
    ASSERT_EQ(texts_.text_of(specs.back(), {}, fleet_), long_text) << i;
  }
  EXPECT_EQ(text_of(specs.front()), scenario::service_spec_json(*specs.front(), fleet_, {})) << "forgotten";
}

TEST_F(SpecTextsTest, ATextThatIsTooLongIsNotKept) {
  const auto spec = spec_of("a");
  texts_.note(spec, {}, std::make_shared<const std::string>(SpecTexts::kBytesMax, 'x'));
  EXPECT_EQ(text_of(spec), scenario::service_spec_json(*spec, fleet_, {}));
  texts_.note(spec, {}, std::make_shared<const std::string>(SpecTexts::kBytesMax, 'x'));
  EXPECT_EQ(text_of(spec), scenario::service_spec_json(*spec, fleet_, {}));
}

TEST_F(SpecTextsTest, ATextThatIsTooLongTakesThePlaceOfNoOther) {
  const auto spec = spec_of("a");
  texts_.note(spec, {}, std::make_shared<const std::string>("of another spec"));
  texts_.note(spec, {}, std::make_shared<const std::string>(SpecTexts::kBytesMax, 'x'));
  EXPECT_EQ(text_of(spec), scenario::service_spec_json(*spec, fleet_, {}));
}

}  // namespace
}  // namespace berth::api
