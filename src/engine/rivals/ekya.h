/// Ekya-style (reference: Ekya, NSDI'22): the thief scheduler, on MIG. docs/reference/policies.md separates the paper's
/// ideas from ours.
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

/// Decides at the start of each window, and when a retraining becomes due or is done: jobs (a service's inference, its
/// retraining) begin with equal shares and steal quanta from each other while the predicted objective improves; the
/// allocation is then rounded to a legal layout near it with the best predicted objective, the cost of changes
/// included.
class Ekya {
 public:
  /// `scenario` must outlive it.
  Ekya(const Scenario& scenario, const EkyaOptions& options);

  ~Ekya();

  [[nodiscard]] Decision decide(const Sight& sight);

  /// For base/core/archive.h: its state between decisions. To be read into an object made for the same scenario.
  static void archive_fields(ArchiveWriter& archive, const Ekya& ekya);
  static void archive_fields(ArchiveReader& archive, Ekya& ekya);

 private:
  class Deciding;
  std::unique_ptr<Deciding> deciding_;
};

}  // namespace berth::partition
