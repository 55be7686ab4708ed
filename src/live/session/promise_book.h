/// The gains that changes of GPUs promised, and those achieved. A change is judged when the window for which it was
/// planned is over, by the requests that came and by when its slices worked (engine/loop/promises.h).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/event.h"
#include "domain/values/plan.h"
#include "domain/values/promise.h"

namespace berth::live {

/// The planner pauses itself if its changes of that span, at least so many, gained less than this share of what they
/// had promised; or if those that changed a GPU's partition, at least so many, lost more than that share of their
/// promise because slices worked later than planned (docs/decisions/0027-promises.md).
inline constexpr Micros kPromiseSpan = Micros::seconds(7'200);
inline constexpr std::int64_t kPromisedChangesMin = 50;
inline constexpr double kPromiseShareMin = 0.1;
inline constexpr std::int64_t kPromisedCutsMin = 10;
inline constexpr double kLostToDelayMax = 0.05;
/// The reason of that pause.
inline constexpr const char* kPromisesFailed = "promises_failed";

/// A change of a GPU whose window is over.
struct JudgedPromise {
  std::uint64_t plan = 0;
  GpuId gpu;
  Instant began;
  Instant judged_at;
  double promised = 0;            ///< Promise::gain
  double achieved = 0;            ///< the same, recomputed; 0 where it is void, like `on_time`
  double on_time = 0;             ///< what it would have achieved if its slices had worked when it was planned
  bool is_cut = false;            ///< slices were created or destroyed; else existing ones got other holders
  std::string void_because = {};  ///< why it cannot be judged; else empty
  friend bool operator==(const JudgedPromise&, const JudgedPromise&) = default;
};

/// A change whose window is not over.
struct OpenPromise {
  std::uint64_t plan = 0;
  Instant began;
  Promise promise;
  std::vector<std::uint64_t> numbers;            ///< by piece: StandingSlice::assignment
  std::vector<std::optional<Instant>> ready_at;  ///< by piece: when it worked
  std::string void_because = {};
  friend bool operator==(const OpenPromise&, const OpenPromise&) = default;
};

/// Sums over changes that were judged.
struct PromiseSums {
  std::int64_t changes = 0;
  double promised = 0;
  double achieved = 0;
  // Of those that changed a GPU's partition.
  std::int64_t cuts = 0;
  double cuts_promised = 0;
  double lost_to_delay = 0;  ///< on_time - achieved
  void add(const PromiseSums& other);
  friend bool operator==(const PromiseSums&, const PromiseSums&) = default;
};
[[nodiscard]] PromiseSums sums_of(const JudgedPromise& judged);

class PromiseBook {
 public:
  /// Beyond these limits the oldest judged changes are forgotten, and changes that begin are not recorded.
  static constexpr std::size_t kJudgedMax = 1'000;
  static constexpr std::size_t kOpenMax = 20'000;

  /// A plan took effect: `accepted` has the actions that begin, with their numbers. Promises for GPUs on which nothing
  /// begins are ignored.
  void begin(const Plan& accepted, const std::vector<Promise>& promises, Instant now);
  /// A plan waits for approval.
  void hold(std::uint64_t plan, std::vector<Promise> promises) { held_ = {plan, std::move(promises)}; }
  /// It no longer waits: `accepted`, if that is the plan, took effect.
  void end_held(const Plan& accepted, Instant now);
  /// To be called for each event that the engine is given.
  void note(const Event& event);
  /// Nothing was observed until `now`: the changes whose windows are not over cannot be judged.
  void skip_to(Instant now);
  /// Judges the changes whose windows are over and whose requests are known. To be called after each step.
  void judge(Instant now);

  /// By `began`.
  [[nodiscard]] const std::deque<OpenPromise>& open() const { return open_; }
  /// Oldest first.
  [[nodiscard]] const std::deque<JudgedPromise>& judged() const { return judged_; }
  /// Of what was judged in the minutes of the world that overlap [now - span, now]; at most a day.
  [[nodiscard]] PromiseSums sums(Instant now, Micros span) const;
  /// Of the changes that began after planning last resumed: those by which it may pause.
  [[nodiscard]] PromiseSums counted(Instant now) const;
  [[nodiscard]] bool have_failed(Instant now) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.open_, self.judged_, self.held_, self.arrivals_, self.minutes_, self.counted_, self.counted_from_);
  }

 private:
  struct Held {
    std::uint64_t plan = 0;
    std::vector<Promise> promises;
  };
  /// The requests of a service, second by second.
  struct Arrivals {
    std::int64_t from_second = 0;
    std::deque<std::int64_t> counts;
  };
  /// Sums by minute of the world.
  using Minutes = std::map<std::int64_t, PromiseSums>;

  void note_second(const ServiceSecond& second);
  void make_void(ServiceId service, const char* why);
  [[nodiscard]] bool is_known(const OpenPromise& open) const;
  /// Computes the gains of the change again.
  void judge(const OpenPromise& open, JudgedPromise& judged) const;
  void close_first(Instant now);
  void forget_arrivals(const Promise& promise);

  std::deque<OpenPromise> open_;
  std::deque<JudgedPromise> judged_;
  std::optional<Held> held_;
  std::map<ServiceId, Arrivals> arrivals_;  ///< for services with open promises, as far as these need them
  Minutes minutes_;                         ///< of a day
  Minutes counted_;                         ///< of kPromiseSpan
  Instant counted_from_;                    ///< when planning last resumed
};

}  // namespace berth::live
