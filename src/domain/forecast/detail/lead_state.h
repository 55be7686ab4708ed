/// The state learned for one class of lead times: each model's errors, and its trust.
#pragma once

#include <array>
#include <cstddef>

#include "domain/forecast/detail/error_scale.h"
#include "domain/forecast/detail/fading_mean.h"
#include "domain/forecast/detail/member.h"
#include "domain/forecast/detail/recalibration.h"

namespace berth::forecast::detail {

inline constexpr std::size_t kMemberCount = 4;
/// Which of the members are used.
using MemberMask = std::array<bool, kMemberCount>;

/// The models, in the order of forecast::Model without the combination.
struct Members {
  Naive naive;
  SeasonalNaive seasonal;
  Smoothing smoothing;
  Bursty bursty;

  void learn(const View& view, const MemberMask& mask, double count);
  [[nodiscard]] double guess(std::size_t member, const View& view) const;
};

/// A number for each member.
using Shares = std::array<double, kMemberCount>;

/// A forecast of one second before it is rounded to counts.
struct UnroundedForecast {
  double mean = 0;
  Spread spread{};
};

/// The mean over kLevels of the pinball loss of the whole-count quantiles of a spread.
[[nodiscard]] double pinball_of(const Spread& spread, double count);

/// A member's distribution for one second: before and after its levels were recalibrated.
struct Said {
  double mean = -1;
  Spread raw{};
  Spread spread{};
};

class LeadState {
 public:
  /// Values that the seconds of one forecast share. A forecast starts with a new one and requests its seconds in order.
  struct Shared {
    const LeadState* state = nullptr;
    Shares trust{};
    std::array<Said, kMemberCount> said{};
    UnroundedForecast unrounded;
  };
  /// Requires: view.lead is this state's class; `view` differs from the one that `shared` saw before only in its
  /// second.
  [[nodiscard]] const UnroundedForecast& unrounded(const Members& members, const View& view, const MemberMask& mask,
                                                   Shared& shared) const;
  /// Learns from the count `kLeads[view.lead]` seconds after `view`; the members themselves learn elsewhere.
  /// When another season becomes known, the models change: past losses then count little.
  void learn(const Members& members, const View& view, const MemberMask& mask, double count);

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.tracks_, self.losses_, self.seasons_known_);
  }

 private:
  static constexpr double kCalibrationMemory = 1000;
  static constexpr double kCalibrationPrior = 80;
  /// A member's errors in one situation.
  struct Track {
    ErrorScale scale;
    Recalibration levels{kCalibrationMemory, kCalibrationPrior};
  };
  [[nodiscard]] Said said_of(double mean, std::size_t member, std::size_t situation) const;

  /// The loss of each model in a situation, as far as it is known.
  [[nodiscard]] double loss_in(std::size_t situation, std::size_t member) const;
  [[nodiscard]] Shares trust_in(std::size_t situation, const MemberMask& mask) const;

  std::array<std::array<Track, kSituationCount>, kMemberCount> tracks_;
  /// The loss of a member's forecasts: recently, over a long time, and in each situation.
  struct Loss {
    FadingMean<200> recent;
    FadingMean<3000> lasting;
    std::array<FadingMean<1000>, kSituationCount> here;
  };
  std::array<Loss, kMemberCount> losses_;
  std::size_t seasons_known_ = 0;  ///< at the time when those losses were counted
};

}  // namespace berth::forecast::detail
