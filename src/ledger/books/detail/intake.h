/// Accepts events, and stores what follows from them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/books/books.h"
#include "ledger/books/detail/gpu_book.h"
#include "ledger/books/detail/gpu_shelf.h"
#include "ledger/books/detail/holders.h"
#include "ledger/books/detail/id_table.h"
#include "ledger/books/detail/names.h"
#include "ledger/books/detail/price_book.h"
#include "ledger/events/event_lines.h"
#include "ledger/events/event_reader.h"

namespace berth::ledger::detail {

struct Closing {
  Month month;
  std::uint64_t line = 0;
};

/// The rules of acceptance, and the books of accepted events. Nothing is counted here.
class Intake {
 public:
  explicit Intake(Books::LineAt line_at) : line_at_(std::move(line_at)) {}

  Verdict take(const EventLine& line);

  void expect(const EventLine& line) const { ids_.prefetch(IdTable::hash_of(line.event.id)); }

  [[nodiscard]] const LineCounts& counts() const { return counts_; }
  [[nodiscard]] const Names& gpu_names() const { return gpu_names_; }
  [[nodiscard]] const Names& sku_names() const { return sku_names_; }
  [[nodiscard]] const Names& slice_names() const { return slice_names_; }
  [[nodiscard]] const Holders& holders() const { return holders_; }
  [[nodiscard]] const PriceBook& prices() const { return prices_; }
  /// By the number of their name.
  [[nodiscard]] const GpuShelf& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<Credit>& credits() const { return credits_; }
  /// By the positions of their lines; without voided ones.
  [[nodiscard]] const std::map<std::uint64_t, Budget>& budgets() const { return budgets_; }
  [[nodiscard]] const std::vector<Rate>& rates() const { return rates_; }
  [[nodiscard]] const std::vector<Closing>& closings() const { return closings_; }
  /// Marks the days touched by changed prices, and returns the numbers of the GPUs that may be dirty, each once.
  [[nodiscard]] std::vector<NameId> take_dirty_gpus();
  /// Keeps the GPU dirty, as not all of it was counted.
  void keep_dirty(NameId gpu) { note_dirty(gpu); }

  [[nodiscard]] const IdTable& ids() const { return ids_; }
  /// Archives everything except ids and GPUs.
  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.counts_, self.awaited_, self.gpu_names_, self.sku_names_, self.slice_names_, self.holders_,
            self.prices_, self.sku_gpus_, self.credits_, self.credit_positions_, self.budgets_, self.budget_starts_,
            self.rates_, self.rate_starts_, self.closings_);
  }
  /// Continues from saved ids and GPUs, which must outlive it.
  void restore(std::string_view ids, std::span<const std::string_view> gpus);

 private:
  Verdict accept(const EventLine& line, const PriceEvent& price);
  Verdict accept(const EventLine& line, const GpuEvent& gpu);
  Verdict accept(const EventLine& line, const UseEvent& use);
  Verdict accept(const EventLine& line, const CreditEvent& credit);
  Verdict accept(const EventLine& line, const BudgetEvent& budget);
  Verdict accept(const EventLine& line, const RateEvent& rate);
  Verdict accept(const EventLine& line, const VoidEvent& voiding);
  Verdict accept(const EventLine& line, const CloseEvent& closing);

  /// The verdict on a line whose id was seen before; absent: it is new.
  [[nodiscard]] std::optional<Verdict> find_repetition(const EventLine& line, std::uint64_t hash);
  [[nodiscard]] const Event& event_at(std::uint64_t position);
  /// Voids an accepted event, if it still counts.
  void take_back(const Event& event, std::uint64_t position, std::uint64_t line);
  [[nodiscard]] bool take_back_what(const Event& event, std::uint64_t position, std::uint64_t line);
  [[nodiscard]] bool take_back_budget(std::uint64_t position);
  [[nodiscard]] NameId gpu_numbered(std::string_view gpu);
  void note_dirty(NameId gpu);
  void count(Verdict verdict);

  Books::LineAt line_at_;
  EventReader earlier_reader_;
  Event earlier_;
  LineCounts counts_;
  IdTable ids_;
  Names awaited_;  ///< ids that were voided before they arrived
  Names gpu_names_;
  Names sku_names_;
  Names slice_names_;
  Holders holders_;
  PriceBook prices_;
  GpuShelf gpus_;
  std::vector<std::vector<NameId>> sku_gpus_;  ///< by sku: GPUs that have this sku at some time
  std::vector<NameId> dirty_gpus_;
  std::vector<bool> is_gpu_dirty_;
  std::vector<Credit> credits_;
  std::vector<std::uint64_t> credit_positions_;  ///< of their lines, ascending
  std::map<std::uint64_t, Budget> budgets_;      ///< by the position of the line
  std::set<std::pair<std::string, std::int64_t>> budget_starts_;
  std::vector<Rate> rates_;
  std::set<std::pair<std::string, std::int64_t>> rate_starts_;
  std::vector<Closing> closings_;
};

}  // namespace berth::ledger::detail
