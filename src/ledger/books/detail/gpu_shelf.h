/// The books of all GPUs; saved ones are read on demand.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/ensure.h"
#include "ledger/books/detail/gpu_book.h"

namespace berth::ledger::detail {

/// Books by the number of the GPU's name. A saved book is read from its bytes at the first access.
class GpuShelf {
 public:
  [[nodiscard]] std::size_t size() const { return places_.size(); }
  void grow(std::size_t size) {
    while (places_.size() < size) places_.emplace_back().book = std::make_unique<GpuBook>();
  }
  [[nodiscard]] GpuBook& operator[](std::size_t gpu) const {
    Place& place = places_[gpu];
    if (!place.book) {
      auto book = GpuBook::restored(place.saved);
      ENSURE(book.has_value());  // the bytes were checked against their hash
      place.book = std::make_unique<GpuBook>(*std::move(book));
    }
    return *place.book;
  }

  /// The bytes of a book; unchanged if it was never accessed.
  [[nodiscard]] std::string saved(std::size_t gpu) const {
    const Place& place = places_[gpu];
    return place.book ? place.book->save() : std::string(place.saved);
  }
  /// Adds a saved book. Requires: the bytes come from `saved` and outlive this.
  void restore(std::string_view saved) { places_.push_back({.book = nullptr, .saved = saved}); }

 private:
  struct Place {
    std::unique_ptr<GpuBook> book;
    std::string_view saved;
  };
  mutable std::vector<Place> places_;  ///< mutable because reading a book is not an observable change
};

}  // namespace berth::ledger::detail
