// Services whose tables were stated by reference.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/session/order_batch.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

class SessionBlobs : public ::testing::Test {
 protected:
  SessionBlobs() : session_(make()) {
    session_->begin();
    EXPECT_TRUE(session_->set_tenant("t", {}, std::nullopt).has_value());
  }

  std::unique_ptr<Session> make() {
    Scenario scenario = sim::testing::scenario_of({}, {}, 1);
    scenario.layout.reset();
    SessionOptions options;
    options.listener.entry = [this](Entry entry) { entries_.push_back(std::move(entry)); };
    return std::move(*Session::make(std::move(scenario), std::move(options)));
  }

  SetResult set(const RowsBlobs& blobs) {
    OrderBatch batch;
    ServiceSpec spec = sim::testing::service_of("any", {{.profile = "1g.10gb"}},
                                                sim::testing::generated(Generator::Kind::kConstant, Decimal(1), 600));
    const SetResult result = session_->add_service(batch, name_, spec, {}, std::nullopt, blobs).value();
    if (!batch.empty()) {
      session_->announce(batch);
      EXPECT_TRUE(session_->commit(batch));
    }
    return result;
  }
  [[nodiscard]] const ServiceEntry& stored() const { return session_->catalog().services.at(name_); }

  std::vector<Entry> entries_;
  const ServiceName name_{.tenant = "t", .name = "s"};
  const RowsBlobs blobs_ = {{"profile", std::string(64, 'a')}};
  std::unique_ptr<Session> session_;
};

TEST_F(SessionBlobs, HowTablesAreStatedIsPartOfTheObjectButRestartsNothing) {
  EXPECT_EQ(set(blobs_), SetResult::kCreated);
  EXPECT_EQ(stored().blobs, blobs_);
  const std::uint64_t version = stored().meta.version;
  EXPECT_EQ(set(blobs_), SetResult::kUnchanged);
  EXPECT_EQ(stored().meta.version, version);
  EXPECT_EQ(set({}), SetResult::kChanged);
  EXPECT_TRUE(stored().blobs.empty());
  EXPECT_GT(stored().meta.version, version);
  const auto& last = std::get<ServiceStored>(entries_.back().what);
  EXPECT_FALSE(last.set.has_value()) << "the service goes on as it was";
}

TEST_F(SessionBlobs, AreSavedAndRestored) {
  set(blobs_);
  static_cast<void>(session_->advance(Instant::at_second(1)));
  const std::string saved = session_->save();
  const std::unique_ptr<Session> after = make();
  ASSERT_TRUE(after->restore(saved).has_value());
  EXPECT_EQ(after->catalog().services.at(name_).blobs, blobs_);
}

}  // namespace
}  // namespace berth::live
