/// Astraea-style (reference: Astraea, ASPLOS'22, doi 10.1145/3503222.3507721; its text was not open to us): the least
/// share that keeps each tenant's tail target, on MIG. What is the paper's idea and what is ours stands in
/// docs/policies.md.
#pragma once

#include <memory>

#include "domain/scenario.h"
#include "partition/rival_options.h"
#include "partition/target.h"

namespace berth::partition {

/// Predicts each period what each tenant needs; where a target is at risk, or a retraining becomes due or is done,
/// gives everyone the least sufficient slices, retrainings what is left over, and the rest to those who gain most; but
/// only if that promises more than what stands, changes counted.
class Astraea {
 public:
  /// `scenario` must outlive it.
  Astraea(const Scenario& scenario, const AstraeaOptions& options);

  ~Astraea();

  [[nodiscard]] Decision decide(const Sight& sight);

 private:
  class Deciding;
  std::unique_ptr<Deciding> deciding_;
};

}  // namespace berth::partition
