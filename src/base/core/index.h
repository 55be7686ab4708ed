/// Indices with a type of their own for each kind of thing: a function that takes a service and a site cannot be called
/// with the two swapped.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>

namespace berth {

/// An index from 0; negative where a type gives such numbers a meaning of their own. It converts to `int` (for
/// subscripts, counts, printing), but not to another kind of index, and an `int` does not convert to an index
/// implicitly. Comparing two kinds of index does not compile.
template <class Tag>
class Index {
 public:
  constexpr Index() = default;
  template <std::integral Integer>
  constexpr explicit Index(Integer value) : value_(static_cast<int>(value)) {}

  constexpr operator int() const { return value_; }  // NOLINT(google-explicit-constructor): this is its purpose

  constexpr Index& operator++() {
    ++value_;
    return *this;
  }
  constexpr Index& operator--() {
    --value_;
    return *this;
  }
  constexpr Index& operator+=(int by) {
    value_ += by;
    return *this;
  }
  constexpr Index& operator-=(int by) {
    value_ -= by;
    return *this;
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.value_);
  }

 private:
  int value_ = 0;
};

template <class Tag>
constexpr bool operator==(Index<Tag> a, Index<Tag> b) {
  return static_cast<int>(a) == static_cast<int>(b);
}
template <class Tag>
constexpr std::strong_ordering operator<=>(Index<Tag> a, Index<Tag> b) {
  return static_cast<int>(a) <=> static_cast<int>(b);
}
template <class TagA, class TagB>
bool operator==(Index<TagA> a, Index<TagB> b) = delete;
template <class TagA, class TagB>
std::strong_ordering operator<=>(Index<TagA> a, Index<TagB> b) = delete;

/// The index plus or minus `by`, and the difference of two indices.
template <class Tag, std::integral Integer>
constexpr Index<Tag> operator+(Index<Tag> index, Integer by) {
  return Index<Tag>(static_cast<int>(index) + static_cast<int>(by));
}
template <class Tag, std::integral Integer>
constexpr Index<Tag> operator-(Index<Tag> index, Integer by) {
  return Index<Tag>(static_cast<int>(index) - static_cast<int>(by));
}
template <class Tag>
constexpr int operator-(Index<Tag> later, Index<Tag> earlier) {
  return static_cast<int>(later) - static_cast<int>(earlier);
}

/// Printed as its number.
template <class Tag>
constexpr int format_as(Index<Tag> index) {
  return index;
}

/// The indices of `count` things, for `for`: 0 to count - 1.
template <class IndexType>
class Indices {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(IndexType at) : at_(at) {}
    constexpr IndexType operator*() const { return at_; }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    constexpr bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    IndexType at_;
  };

  constexpr explicit Indices(std::integral auto count) : end_(IndexType(count)) {}
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(IndexType(0)); }
  [[nodiscard]] constexpr Iterator end() const { return Iterator(end_); }

 private:
  IndexType end_;
};

/// The indices of the elements of a container.
template <class IndexType, class Container>
constexpr Indices<IndexType> indices_of(const Container& container) {
  return Indices<IndexType>(container.size());
}

}  // namespace berth

template <class Tag>
struct std::hash<berth::Index<Tag>> {
  std::size_t operator()(berth::Index<Tag> index) const noexcept { return std::hash<int>()(index); }
};
