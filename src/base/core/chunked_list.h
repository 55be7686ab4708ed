/// A list in chunks that copies of the list share: a copy costs a pointer per chunk, and a change copies only the chunk
/// that it touches. For long lists that one thread changes a little at a time while others keep older versions.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace berth {

/// Behaves like std::vector<T> with the functions below, except that its iterators are read-only: values are changed
/// through `change`. A change in place costs O(kChunk) if the chunk is shared, else O(1); insertion, erasure and
/// `pop_front` O(kChunk + size / kChunk); an index O(log(size / kChunk)), the next value O(1). Any change of the list
/// invalidates its iterators. Two threads may use two lists that share chunks; one list is not for concurrent use.
template <class T, std::size_t kChunk = 64>
class ChunkedList {
  using Chunk = std::vector<T>;

 public:
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = const T&;
    using pointer = const T*;

    Iterator() = default;

    reference operator*() const { return (*list_->chunks_[chunk_])[offset_]; }
    pointer operator->() const { return &**this; }
    reference operator[](difference_type by) const { return *(*this + by); }
    Iterator& operator++() {
      if (++offset_ == list_->chunks_[chunk_]->size()) {
        ++chunk_;
        offset_ = 0;
      }
      return *this;
    }
    Iterator& operator--() {
      if (offset_ == 0) offset_ = list_->chunks_[--chunk_]->size();
      --offset_;
      return *this;
    }
    Iterator operator++(int) { return std::exchange(*this, std::next(*this)); }
    Iterator operator--(int) { return std::exchange(*this, std::prev(*this)); }
    Iterator& operator+=(difference_type by) {
      return *this = list_->at(static_cast<std::size_t>(static_cast<difference_type>(index()) + by));
    }
    Iterator& operator-=(difference_type by) { return *this += -by; }
    friend Iterator operator+(Iterator it, difference_type by) { return it += by; }
    friend Iterator operator+(difference_type by, Iterator it) { return it += by; }
    friend Iterator operator-(Iterator it, difference_type by) { return it -= by; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) {
      return static_cast<difference_type>(a.index()) - static_cast<difference_type>(b.index());
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.chunk_ == b.chunk_ && a.offset_ == b.offset_;
    }
    friend auto operator<=>(const Iterator& a, const Iterator& b) {
      return std::pair(a.chunk_, a.offset_) <=> std::pair(b.chunk_, b.offset_);
    }

    /// Its place in the list. O(1).
    [[nodiscard]] std::size_t index() const { return list_ == nullptr ? 0 : list_->size_before(chunk_) + offset_; }

   private:
    friend class ChunkedList;
    Iterator(const ChunkedList* list, std::size_t chunk, std::size_t offset)
        : list_(list), chunk_(chunk), offset_(offset) {}

    const ChunkedList* list_ = nullptr;
    std::size_t chunk_ = 0;  ///< for the end: the number of chunks, at offset 0
    std::size_t offset_ = 0;
  };
  using value_type = T;
  using iterator = Iterator;
  using const_iterator = Iterator;

  ChunkedList() = default;
  ChunkedList(std::initializer_list<T> values) { append(values); }
  ChunkedList(const std::vector<T>& values) { append(values); }  // NOLINT(google-explicit-constructor): the same values

  [[nodiscard]] std::size_t size() const { return size_before(chunks_.size()); }
  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  [[nodiscard]] const T& operator[](std::size_t index) const { return *at(index); }
  [[nodiscard]] const T& front() const { return chunks_.front()->front(); }
  [[nodiscard]] const T& back() const { return chunks_.back()->back(); }
  [[nodiscard]] const_iterator begin() const { return {this, 0, 0}; }
  [[nodiscard]] const_iterator end() const { return {this, chunks_.size(), 0}; }

  /// Write access to the value at a position. Requires: there is one.
  [[nodiscard]] T& change(const_iterator it) { return own(it.chunk_)[it.offset_]; }
  [[nodiscard]] T& change(std::size_t index) { return change(at(index)); }

  void push_back(T value) {
    if (chunks_.empty() || chunks_.back()->size() >= kChunk) {
      chunks_.push_back(std::make_shared<Chunk>());
      ends_.push_back(size_before(chunks_.size() - 1));
    }
    own(chunks_.size() - 1).push_back(std::move(value));
    ++ends_.back();
  }
  /// Inserts the value before `it`.
  void insert(const_iterator it, T value) {
    if (it == end()) return push_back(std::move(value));
    Chunk& chunk = own(it.chunk_);
    chunk.insert(chunk.begin() + static_cast<std::ptrdiff_t>(it.offset_), std::move(value));
    for (std::size_t i = it.chunk_; i < ends_.size(); ++i) ++ends_[i];
    if (chunk.size() > kChunkMax) split(it.chunk_);
  }
  void erase(const_iterator it) { erase(it, std::next(it)); }
  void erase(const_iterator first, const_iterator last) {
    std::size_t left = static_cast<std::size_t>(last - first);
    std::size_t offset = first.offset_;
    // A chunk that becomes empty is removed, so the next one takes its index.
    for (std::size_t chunk = first.chunk_; left > 0; offset = 0) {
      const std::size_t count = std::min(left, chunks_[chunk]->size() - offset);
      const bool is_whole = count == chunks_[chunk]->size();
      erase_in(chunk, offset, count);
      left -= count;
      if (!is_whole) ++chunk;
    }
    join(first.chunk_);
  }
  void pop_front() { erase(begin()); }
  void pop_back() { erase(std::prev(end())); }
  void clear() { *this = {}; }

  /// Whether the two lists share the chunk that holds the value at `index`.
  [[nodiscard]] bool shares(const ChunkedList& other, std::size_t index) const {
    return chunks_[at(index).chunk_] == other.chunks_[other.at(index).chunk_];
  }

  friend bool operator==(const ChunkedList& a, const ChunkedList& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  /// A chunk that grew beyond this is split.
  static constexpr std::size_t kChunkMax = 2 * kChunk;

  template <class Values>
  void append(const Values& values) {
    for (const T& value : values) push_back(value);
  }
  [[nodiscard]] std::size_t size_before(std::size_t chunk) const { return chunk == 0 ? 0 : ends_[chunk - 1]; }
  [[nodiscard]] const_iterator at(std::size_t index) const {
    const auto chunk = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
    return {this, chunk, index - size_before(chunk)};
  }
  /// Makes the chunk this list's own, by a copy if it is shared.
  Chunk& own(std::size_t index) {
    std::shared_ptr<Chunk>& chunk = chunks_[index];
    if (chunk.use_count() > 1) {
      chunk = std::make_shared<Chunk>(*chunk);
    } else {
      // Another thread may just have released it: its reads must happen before our writes.
      std::atomic_thread_fence(std::memory_order_acquire);
    }
    return *chunk;
  }
  void erase_in(std::size_t index, std::size_t offset, std::size_t count) {
    for (std::size_t i = index; i < ends_.size(); ++i) ends_[i] -= count;
    const auto place = static_cast<std::ptrdiff_t>(index);
    if (count == chunks_[index]->size()) {
      chunks_.erase(chunks_.begin() + place);
      ends_.erase(ends_.begin() + place);
      return;
    }
    Chunk& chunk = own(index);
    const auto begin = chunk.begin() + static_cast<std::ptrdiff_t>(offset);
    chunk.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  void split(std::size_t index) {
    Chunk& chunk = *chunks_[index];
    const auto middle = chunk.begin() + static_cast<std::ptrdiff_t>(chunk.size() / 2);
    auto behind = std::make_shared<Chunk>(std::make_move_iterator(middle), std::make_move_iterator(chunk.end()));
    chunk.erase(middle, chunk.end());
    const auto place = static_cast<std::ptrdiff_t>(index);
    ends_.insert(ends_.begin() + place, size_before(index) + chunk.size());
    chunks_.insert(chunks_.begin() + place + 1, std::move(behind));
  }
  /// Joins a chunk with the next one if both are small, so that erasures do not leave many small chunks.
  void join(std::size_t index) {
    if (index + 1 >= chunks_.size()) return;
    const Chunk& next = *chunks_[index + 1];
    if (chunks_[index]->size() + next.size() > kChunk) return;
    Chunk& chunk = own(index);
    chunk.insert(chunk.end(), next.begin(), next.end());
    const auto place = static_cast<std::ptrdiff_t>(index);
    chunks_.erase(chunks_.begin() + place + 1);
    ends_.erase(ends_.begin() + place);
  }

  std::vector<std::shared_ptr<Chunk>> chunks_;  ///< none is empty
  std::vector<std::size_t> ends_;               ///< by chunk: how many values there are up to its end
};

/// Erases the values for which `is_gone` holds. O(size).
template <class T, std::size_t kChunk, class IsGone>
void erase_if(ChunkedList<T, kChunk>& list, const IsGone& is_gone) {
  for (auto it = list.begin(); it != list.end();) {
    if (!is_gone(*it)) {
      ++it;
      continue;
    }
    const std::size_t index = it.index();
    list.erase(it);
    it = list.begin() + static_cast<std::ptrdiff_t>(index);
  }
}

}  // namespace berth
