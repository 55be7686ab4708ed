/// A ledger to which a test gives lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/books/books.h"
#include "ledger/books/report.h"
#include "ledger/events/event_lines.h"
#include "ledger/events/event_reader.h"

namespace berth::ledger::testing {

/// Books with the text that they borrow.
class LineLedger {
 public:
  LineLedger();
  /// Of these lines.
  explicit LineLedger(const std::vector<std::string>& lines);
  LineLedger(const LineLedger&) = delete;  // the books borrow the text
  LineLedger& operator=(const LineLedger&) = delete;

  /// Requires: the line is well-formed.
  Verdict take(std::string_view line);

  /// Continues from the saved books.
  void reopen();

  [[nodiscard]] Books& books() { return books_; }
  [[nodiscard]] Report report() { return books_.report(); }

 private:
  std::string text_;
  std::uint64_t line_count_ = 0;
  EventReader reader_;
  std::vector<std::unique_ptr<std::string>> saved_;  ///< the books read from it on demand
  Books books_;
};

/// The saved books.
[[nodiscard]] std::string saved_bytes(Books& books);

/// Each row as "2026-11 tenant/service/sku/role[ of 2026-10]: GPU_US us, GRAINS grains, MICRO_USD", in the order of the
/// report.
[[nodiscard]] std::vector<std::string> row_texts(const Report& report);

}  // namespace berth::ledger::testing
