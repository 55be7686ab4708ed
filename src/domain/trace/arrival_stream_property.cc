#include "domain/trace/arrival_stream.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace berth {
namespace {

/// Uniform in [low, end), even for small test cases.
template <class Number>
Number any_of(Number low, Number end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Number>(low, end));
}

/// Any source, a short window somewhere in it.
Arrivals any_arrivals() {
  const auto counts =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 400)));
  Arrivals arrivals;
  const int kind = any_of(0, 7);
  std::int64_t source_seconds = 300;
  if (kind == 0) {
    arrivals.source = CountTrace{counts};
    source_seconds = std::ssize(counts);
  } else if (kind == 1) {
    arrivals.source = MinuteTrace{counts};
    source_seconds = std::ssize(counts) * 60;
  } else if (kind == 2) {
    TimedTrace timed;
    std::int64_t at_us = 0;
    for (const std::int64_t count : counts) timed.requests.push_back({.at_us = at_us += count * 10'000});
    timed.seconds = source_seconds = at_us / 1'000'000 + 1;
    arrivals.source = timed;
  } else {
    const auto rate = any_of<std::int64_t>(0, 100'000);
    arrivals.source =
        Generator{.kind = static_cast<Generator::Kind>(kind - 3), .requests_per_second = Decimal(rate, 128)};
  }
  arrivals.from_second = any_of<std::int64_t>(0, source_seconds);
  arrivals.seconds = any_of<std::int64_t>(1, 400);
  if (any_of(0, 2) == 1) arrivals.scale = Decimal(any_of<std::int64_t>(1, 40), 10);
  arrivals.smooth_seconds = any_of<std::int64_t>(1, 100);
  return arrivals;
}

RC_GTEST_PROP(ArrivalStreamProperty, OffsetsAreSortedInTheSecondAndAsManyAsCounted, ()) {
  const Arrivals arrivals = any_arrivals();
  const ArrivalStream stream(arrivals, Rng(*rc::gen::arbitrary<std::uint64_t>()));
  std::vector<std::uint32_t> offsets = {7};
  for (std::int64_t second = -arrivals.from_second - 2; second < arrivals.seconds + 2; ++second) {
    stream.offsets(second, offsets);
    RC_ASSERT(std::ssize(offsets) == stream.count(second));
    RC_ASSERT(std::is_sorted(offsets.begin(), offsets.end()));
    RC_ASSERT((offsets.empty() || offsets.back() < 1'000'000));
    RC_ASSERT((offsets.empty() || stream.has_history(second)));
  }
}

RC_GTEST_PROP(ArrivalStreamProperty, AnyOrderGivesWhatOneAfterTheOtherGives, ()) {
  const Arrivals arrivals = any_arrivals();
  const Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const ArrivalStream forward(arrivals, rng);
  std::vector<std::vector<std::uint32_t>> wanted;
  for (std::int64_t second = 0; second < arrivals.seconds; ++second) forward.offsets(second, wanted.emplace_back());

  const ArrivalStream jumping(arrivals, rng);
  std::vector<std::uint32_t> found;
  const auto seconds = *rc::gen::container<std::vector<std::int64_t>>(
      rc::gen::inRange<std::int64_t>(-arrivals.from_second, arrivals.seconds));
  for (const std::int64_t second : seconds) {
    jumping.offsets(second, found);
    if (second >= 0) RC_ASSERT(found == wanted[static_cast<std::size_t>(second)]);
    const ArrivalStream fresh(arrivals, rng);
    RC_ASSERT(fresh.count(second) == jumping.count(second));
  }
}

}  // namespace
}  // namespace berth
