#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "live/demo.h"
#include "live/session.h"

namespace berth::live {
namespace {

/// A demo whose solver is never idle.
class SessionPlaces : public ::testing::Test {
 protected:
  void SetUp() override {
    SessionOptions options;
    options.solve_elsewhere = [this](SolveRequest request) { request_ = std::move(request); };
    auto made = Session::make(demo_scenario(), std::move(options));
    ASSERT_TRUE(made);
    session_ = std::move(*made);
    session_->begin();
    ask_another();
  }
  /// The question is answered, and another one asked.
  void ask_another() {
    while (!request_) go_on();
    const SolveRequest request = *std::exchange(request_, std::nullopt);
    session_->answer({.question = request.question, .solution = std::make_shared<const Solution>(request.solve())});
    while (!request_) go_on();
    ASSERT_TRUE(session_->is_solving());
  }
  void go_on() { ASSERT_TRUE(session_->advance(Instant::at_second(session_->now().second() + 1))); }
  void set() {
    const ServiceSpec spec = std::as_const(session_->scenario().services)[0];
    const std::string tenant = spec.tenant;
    ASSERT_TRUE(session_->set_service({.tenant = tenant, .name = "new"}, spec, {}, std::nullopt));
  }
  void remove() {
    const std::string tenant = std::as_const(session_->scenario().services)[0].tenant;
    ASSERT_TRUE(session_->remove_service({.tenant = tenant, .name = "new"}));
  }
  [[nodiscard]] std::size_t places() const { return session_->scenario().services.size(); }

  std::optional<SolveRequest> request_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionPlaces, AreTakenAgainThoughTheSolverIsNeverIdle) {
  const std::size_t before = places();
  for (int i = 0; i < 20; ++i) {
    set();
    remove();
    ask_another();
  }
  EXPECT_EQ(places(), before + 1);
}

TEST_F(SessionPlaces, StayFreeWhileAQuestionIsOpenThatKnowsTheService) {
  const std::size_t before = places();
  set();
  ask_another();
  remove();
  set();
  EXPECT_EQ(places(), before + 2);
}

}  // namespace
}  // namespace berth::live
