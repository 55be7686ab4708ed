/// A solver with a delay: answers are delivered when a test decides, not when they are computed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/core/instant.h"
#include "domain/values/event.h"
#include "engine/loop/engine.h"

namespace berth::live::testing {

class LateSolver {
 public:
  /// `delay` is called for each answer, when its question is asked.
  explicit LateSolver(std::function<Micros()> delay) : delay_(std::move(delay)) {}

  /// Requires: no question is open.
  void ask(SolveRequest request) {
    due_at_ = request.made_at + delay_();
    request_ = std::move(request);
  }
  void forget() {
    request_.reset();
    answer_.reset();
  }
  [[nodiscard]] bool is_open() const { return request_ || answer_; }
  /// Makes the open question due now.
  void hurry() { due_at_ = Instant(); }
  /// Returns an answer that was taken, so that it is taken again.
  void put_back(SolveFinished answer) { answer_ = std::move(answer); }
  /// An answer that is due.
  [[nodiscard]] std::optional<SolveFinished> take(Instant now) {
    if (answer_) return std::exchange(answer_, std::nullopt);
    if (!request_ || now < due_at_) return std::nullopt;
    const SolveRequest request = *std::exchange(request_, std::nullopt);
    return SolveFinished{.question = request.question, .solution = std::make_shared<const Solution>(request.solve())};
  }

 private:
  std::function<Micros()> delay_;
  std::optional<SolveRequest> request_;
  std::optional<SolveFinished> answer_;
  Instant due_at_;
};

}  // namespace berth::live::testing
