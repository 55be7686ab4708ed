// A model whose times are given, for tests of what measures.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "domain/ports/model_probe.h"

namespace berth::testing {

/// Each call of `time` takes what `next` says for one run, and `clock_us` goes on by all of them.
class FakeTimedModel final : public ProbedModel {
 public:
  FakeTimedModel(double& clock_us, std::function<Result<double>()> next_us)
      : clock_us_(clock_us), next_us_(std::move(next_us)) {}

  [[nodiscard]] std::span<const TensorSignature> inputs() const override { return {}; }
  [[nodiscard]] std::span<const TensorSignature> outputs() const override { return {}; }
  [[nodiscard]] Result<std::vector<Tensor>> run(std::span<const Tensor> /*inputs*/,
                                                std::span<const std::string> /*wanted*/) override {
    return std::vector<Tensor>();
  }
  [[nodiscard]] Result<std::chrono::nanoseconds> time(std::span<const Tensor> /*inputs*/, int runs) override {
    const auto us = next_us_();
    if (!us) return pass_on(us.error());
    calls_.push_back(runs);
    clock_us_ += *us * runs;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(*us * 1e3));
  }
  /// The runs of each call.
  [[nodiscard]] const std::vector<int>& calls() const { return calls_; }

 private:
  double& clock_us_;
  std::function<Result<double>()> next_us_;
  std::vector<int> calls_;
};

}  // namespace berth::testing
