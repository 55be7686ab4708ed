/// MIGRator-style (reference: MIGRator, arXiv 2407.13126; we had no access to its equations): an integer program over a
/// window decides how GPUs are partitioned over time. docs/reference/policies.md separates the paper's ideas from ours.
#pragma once

#include <cstdint>
#include <memory>

#include "domain/values/scenario.h"
#include "engine/rivals/rival_options.h"
#include "engine/rivals/target.h"

namespace berth {
class ArchiveReader;
class ArchiveWriter;
}  // namespace berth

namespace berth::partition {

/// Solves the program of detail/window_ilp.h at the start of each window and when a retraining becomes due or is done,
/// and carries out its blocks one by one until it solves the next one.
class Migrator {
 public:
  /// `scenario` must outlive it.
  Migrator(const Scenario& scenario, const MigratorOptions& options);

  ~Migrator();

  [[nodiscard]] Decision decide(const Sight& sight);

  /// For base/core/archive.h: its state between decisions. To be read into an object made for the same scenario.
  static void archive_fields(ArchiveWriter& archive, const Migrator& migrator);
  static void archive_fields(ArchiveReader& archive, Migrator& migrator);

  /// Statistics of the programs so far.
  struct ProgramStatistics {
    std::int64_t count = 0;
    std::int64_t within_count = 0;    ///< optimal within the gap allowed
    std::int64_t unsolved_count = 0;  ///< no solution within the nodes: the existing slices stay
    double gap_sum = 0;               ///< of those with a solution
    double gap_max = 0;
  };
  [[nodiscard]] const ProgramStatistics& solved() const;

 private:
  class Deciding;
  std::unique_ptr<Deciding> deciding_;
};

}  // namespace berth::partition
