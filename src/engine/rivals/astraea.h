/// Astraea-style (reference: Astraea, ASPLOS'22, doi 10.1145/3503222.3507721; we had no access to its text): the least
/// share that keeps each tenant's tail target, on MIG. docs/reference/policies.md separates the paper's ideas from
/// ours.
#pragma once

#include <memory>

#include "domain/values/scenario.h"
#include "engine/rivals/rival_options.h"
#include "engine/rivals/target.h"

namespace berth {
class ArchiveReader;
class ArchiveWriter;
}  // namespace berth

namespace berth::partition {

/// Predicts each tenant's needs in each period. If a target is at risk, or a retraining becomes due or is done, it
/// gives every tenant the least sufficient slices, then retrainings, then the services that gain most; but only if the
/// expected objective is higher than with the existing slices, the cost of changes included.
class Astraea {
 public:
  /// `scenario` must outlive it.
  Astraea(const Scenario& scenario, const AstraeaOptions& options);

  ~Astraea();

  [[nodiscard]] Decision decide(const Sight& sight);

  /// For base/core/archive.h: its state between decisions. To be read into an object made for the same scenario.
  static void archive_fields(ArchiveWriter& archive, const Astraea& astraea);
  static void archive_fields(ArchiveReader& archive, Astraea& astraea);

 private:
  class Deciding;
  std::unique_ptr<Deciding> deciding_;
};

}  // namespace berth::partition
