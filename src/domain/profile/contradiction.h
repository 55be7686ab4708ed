/// Rows of a profile whose columns contradict each other. P processes that each answer a batch of B requests in L
/// milliseconds answer P x B x 1000 / L requests per second, and a replay serves that many. The ratio
///
///     r = requests_per_second x latency_ms / (1000 x batch x processes)
///
/// is therefore near 1: a little below where a process waits between batches, above only by errors of measurement. A
/// figure of a file stands for all numbers that are rounded to it, so r is a range: both figures are taken half a unit
/// of their last written digit lower and higher. A row contradicts itself if no number of the range is from 0.75 to
/// 1.05. Its plans count on a rate that the row's own latency does not give.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/decimal.h"
#include "base/core/text.h"
#include "domain/values/performance.h"

namespace berth::profile {

/// The power of ten of the last digit of a written number: 0 of "53", -2 of "0.50", 2 of "1.5e3". Requires: a number
/// that Decimal::parse accepts.
[[nodiscard]] int last_digit(std::string_view number);

/// A row as a file or a list has it.
struct WrittenRow {
  std::string_view model;  ///< empty in ParvaGPU's files
  const PerformancePoint& point;
  int rate_digit = 0;                ///< `last_digit` of the rate, ...
  bool is_rate_per_process = false;  ///< ... which is written for each process, not for the slice
  int latency_digit = 0;             ///< `last_digit` of the latency in ms
  std::size_t number = 1;            ///< of its line in a file, or of the row in a list; from 1
  TextPlace rate_place = {};         ///< of its rate in a file
  std::string_view rate_text = {};   ///< of a file: as it is written there, see is_rate_per_process; valid for the call
  std::string_view latency_text = {};  ///< likewise, in the file's unit
};
/// Gets the rows of a table one by one, in the order in which they are written.
using RowObserver = std::function<void(const WrittenRow&)>;

/// The smallest and the largest ratio that the row's figures allow. Exact.
struct RatioRange {
  Decimal min;
  Decimal max;
};
[[nodiscard]] RatioRange ratio_range(const WrittenRow& row);
/// Whether no ratio of the row is at most 1.05: it states more than its batches give.
[[nodiscard]] bool states_too_much(const WrittenRow& row);

/// A row above 1.05 in the parts of a message.
struct ExcessiveRow {
  std::size_t number = 1;
  TextPlace rate_place;
  std::string wanted;  ///< of the slice's rate: "at most 131.25 ..."
  std::string found;   ///< the slice's rate
};

/// Collects the contradicting rows of one table or file. O(1) memory.
class Contradictions {
 public:
  void add(const WrittenRow& row);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// One text about all of them, without the file's name: how many, and the worst, which is farthest outside by its
  /// factor. `noun` precedes the worst one's number: "line ". Requires: not empty().
  [[nodiscard]] std::string text(std::string_view noun) const;
  /// The worst row above 1.05, if there is one.
  [[nodiscard]] const std::optional<ExcessiveRow>& excessive() const { return excessive_; }

 private:
  struct Worst {
    Decimal factor;  ///< how far the ratio is from the nearest that is accepted; > 1
    std::size_t number = 1;
    PerformancePoint point;
  };

  std::size_t row_count_ = 0;
  std::size_t count_ = 0;
  std::optional<Worst> worst_;
  Decimal excess_;  ///< the factor of `excessive_`
  std::optional<ExcessiveRow> excessive_;
};

/// The contradictions of a table whose texts are not known: each number counts as written in its shortest form, with
/// the rows in the table's order.
[[nodiscard]] Contradictions contradictions_of(const PerformanceTable& table);

}  // namespace berth::profile
