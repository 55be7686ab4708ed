/// The books of all GPUs, those that were saved only read where they are needed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/ensure.h"
#include "ledger/books/detail/gpu_book.h"

namespace berth::ledger::detail {

/// By the number of the GPU's name. A book that is asked for is read from its bytes then.
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

  /// The bytes of a book; those of one that nobody asked for are as they were.
  [[nodiscard]] std::string saved(std::size_t gpu) const {
    const Place& place = places_[gpu];
    return place.book ? place.book->save() : std::string(place.saved);
  }
  /// The bytes must outlive this, and be what `saved` gave.
  void restore(std::string_view saved) { places_.push_back({.book = nullptr, .saved = saved}); }

 private:
  struct Place {
    std::unique_ptr<GpuBook> book;
    std::string_view saved;
  };
  mutable std::vector<Place> places_;  ///< reading a book changes nothing that can be seen
};

}  // namespace berth::ledger::detail
