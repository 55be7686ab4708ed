/// Values as bytes, exactly: one run of a program writes them and another run, with the same version of the types,
/// reads them. Not for exchange with other programs: the bytes do not describe themselves.
///
/// A plain struct needs no description (base/core/fields.h). A class lists its members once, for both directions:
///
///   template <class Archive, class Self>
///   static void archive_fields(Archive& archive, Self& self) {
///     archive(self.slots_, self.next_slot_);
///     archive.require(self.next_slot_ < self.slots_.size());
///   }
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/chunked_list.h"
#include "base/core/ensure.h"
#include "base/core/fields.h"
#include "base/core/int128.h"
#include "base/core/shared_list.h"
#include "base/core/shared_value.h"

namespace berth {

/// A class that describes itself to the archive.
template <class T, class Archive>
concept Archivable = requires(Archive& archive, T& value) { std::remove_const_t<T>::archive_fields(archive, value); };

/// Numbers among which many neighbours are equal, written as runs. Both sides know how many there are.
template <class T>
struct Runs {
  std::span<T> numbers;
};
[[nodiscard]] auto runs_of(auto& numbers) { return Runs<std::remove_reference_t<decltype(numbers[0])>>{numbers}; }

namespace detail {

/// Whether two numbers have the same bits: 0 and -0 do not.
template <class T>
[[nodiscard]] bool is_same(T a, T b) {
  if constexpr (std::is_same_v<T, double>) return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  return a == b;
}

template <class T>
inline constexpr bool kIsUnknown = false;
/// Written as two numbers of 64 bits.
template <class T>
inline constexpr bool kIsInt128 = std::is_same_v<T, Int128>;

}  // namespace detail

/// Appends values to a string of bytes. Numbers take as many bytes as their value needs: 0 takes one.
class ArchiveWriter {
 public:
  static constexpr bool kReads = false;

  template <class... Values>
  void operator()(const Values&... values) {
    (write(values), ...);
  }
  /// All fields of a plain struct, in their order: for a struct whose archive_fields stand in its own source, so that
  /// they are compiled once.
  template <PlainStruct T>
  void fields(const T& value) {
    std::apply(*this, fields_of(value));
  }
  /// Always true: only a reader can find a condition violated.
  bool require(bool /*condition*/) { return true; }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void write_integer(std::uint64_t value);
  /// The number of bytes without the trailing zero bytes, then these bytes, highest first.
  void write_bits(std::uint64_t bits);

  template <class T>
  void write(const T& value) {
    if constexpr (Archivable<const T, ArchiveWriter>) {
      T::archive_fields(*this, value);
    } else if constexpr (std::is_enum_v<T>) {
      write(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_same_v<T, char>) {
      write_integer(static_cast<unsigned char>(value));
    } else if constexpr (std::unsigned_integral<T>) {
      write_integer(value);
    } else if constexpr (std::signed_integral<T>) {
      // Small numbers of both signs become small: 0, -1, 1, -2 ..
      const std::int64_t wide = value;
      write_integer((static_cast<std::uint64_t>(wide) << 1) ^ static_cast<std::uint64_t>(wide >> 63));
    } else if constexpr (detail::kIsInt128<T>) {
      (*this)(static_cast<std::uint64_t>(value), static_cast<std::int64_t>(value >> 64));
    } else if constexpr (std::is_same_v<T, float>) {
      write_bits(std::uint64_t{std::bit_cast<std::uint32_t>(value)} << 32);
    } else if constexpr (std::is_same_v<T, double>) {
      write_bits(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (PlainStruct<T>) {
      fields(value);
    } else {
      static_assert(detail::kIsUnknown<T>, "the archive does not know this type: it needs archive_fields");
    }
  }
  void write(const std::string& text);
  template <class T>
  void write(const std::optional<T>& value) {
    write(value.has_value());
    if (value) write(*value);
  }
  template <class A, class B>
  void write(const std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class... Values>
  void write(const std::tuple<Values...>& values) {
    std::apply(*this, values);
  }
  template <class T, std::size_t kSize>
  void write(const std::array<T, kSize>& values) {
    for (const T& value : values) write(value);
  }
  template <class T>
  void write(const std::vector<T>& list) {
    write_list(list);
  }
  template <class T>
  void write(const std::deque<T>& list) {
    write_list(list);
  }
  template <class T, std::size_t kChunk>
  void write(const ChunkedList<T, kChunk>& list) {
    write_list(list);
  }
  template <class T>
  void write(const SharedList<T>& list) {
    write_list(list);
  }
  template <class T>
  void write(const std::set<T>& set) {
    write_list(set);
  }
  template <class Key, class T>
  void write(const std::map<Key, T>& map) {
    write_list(map);
  }
  template <class... Cases>
  void write(const std::variant<Cases...>& value) {
    write(value.index());
    std::visit(*this, value);
  }
  /// Requires: not null.
  template <class T>
  void write(const std::shared_ptr<const T>& value) {
    ENSURE(value != nullptr);
    write(*value);
  }
  template <class T>
  void write(const SharedValue<T>& value) {
    write(*value);
  }
  template <class T>
  void write(const Runs<T>& runs) {
    for (std::size_t first = 0; first < runs.numbers.size();) {
      std::size_t end = first + 1;
      while (end < runs.numbers.size() && detail::is_same(runs.numbers[end], runs.numbers[first])) ++end;
      (*this)(end - first, runs.numbers[first]);
      first = end;
    }
  }

  template <class List>
  void write_list(const List& list) {
    write(list.size());
    for (const auto& value : list) write(value);
  }

  std::string bytes_;
};

/// Reads values in the order in which they were written. Truncated or damaged bytes make it fail or give other values;
/// memory stays within a constant factor of the bytes. After a failure it reads nothing more, and the caller must
/// discard all values read so far.
class ArchiveReader {
 public:
  static constexpr bool kReads = true;

  /// The bytes must outlive it.
  explicit ArchiveReader(std::string_view bytes) : bytes_(bytes) {}

  template <class... Values>
  void operator()(Values&&... values) {
    (read(values), ...);
  }
  /// As those of a writer.
  template <PlainStruct T>
  void fields(T& value) {
    std::apply(*this, fields_of(value));
  }
  /// Fails unless the condition holds. Returns whether it has never failed.
  bool require(bool condition) {
    if (!condition) fail();
    return !has_failed_;
  }

  [[nodiscard]] bool has_failed() const { return has_failed_; }
  /// Whether everything was read without a failure.
  [[nodiscard]] bool is_at_end() const { return !has_failed_ && bytes_.empty(); }

 private:
  void fail();
  [[nodiscard]] std::uint64_t read_integer();
  [[nodiscard]] std::uint64_t read_bits();
  /// The number of values that follow: each takes at least one byte.
  [[nodiscard]] std::size_t read_count();

  template <class T>
  void read(T& value) {
    if constexpr (Archivable<T, ArchiveReader>) {
      T::archive_fields(*this, value);
    } else if constexpr (std::is_enum_v<T>) {
      auto number = static_cast<std::underlying_type_t<T>>(value);
      read(number);
      value = static_cast<T>(number);
    } else if constexpr (std::is_same_v<T, char>) {
      const std::uint64_t wide = read_integer();
      if (require(wide <= std::numeric_limits<unsigned char>::max())) value = static_cast<char>(wide);
    } else if constexpr (std::unsigned_integral<T>) {
      const std::uint64_t wide = read_integer();
      if (require(wide <= std::numeric_limits<T>::max())) value = static_cast<T>(wide);
    } else if constexpr (std::signed_integral<T>) {
      const std::uint64_t folded = read_integer();
      const auto wide = static_cast<std::int64_t>((folded >> 1) ^ (~(folded & 1) + 1));
      if (require(std::in_range<T>(wide))) value = static_cast<T>(wide);
    } else if constexpr (detail::kIsInt128<T>) {
      std::uint64_t low = 0;
      std::int64_t high = 0;
      (*this)(low, high);
      value = static_cast<T>(high) * (static_cast<T>(1) << 64) + static_cast<T>(low);
    } else if constexpr (std::is_same_v<T, float>) {
      value = std::bit_cast<float>(static_cast<std::uint32_t>(read_bits() >> 32));
    } else if constexpr (std::is_same_v<T, double>) {
      value = std::bit_cast<double>(read_bits());
    } else if constexpr (PlainStruct<T>) {
      fields(value);
    } else {
      static_assert(detail::kIsUnknown<T>, "the archive does not know this type: it needs archive_fields");
    }
  }
  void read(std::string& text);
  template <class T>
  void read(std::optional<T>& value) {
    value.reset();
    bool is_there = false;
    read(is_there);
    if (!is_there) return;
    auto own = T();
    read(own);
    value = std::move(own);
  }
  template <class A, class B>
  void read(std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class... Values>
  void read(std::tuple<Values...>& values) {
    std::apply(*this, values);
  }
  template <class T, std::size_t kSize>
  void read(std::array<T, kSize>& values) {
    for (T& value : values) read(value);
  }
  template <class T>
  void read(std::vector<T>& list) {
    read_list(list);
  }
  template <class T>
  void read(std::deque<T>& list) {
    read_list(list);
  }
  template <class T, std::size_t kChunk>
  void read(ChunkedList<T, kChunk>& list) {
    read_list(list);
  }
  template <class T>
  void read(SharedList<T>& list) {
    read_list(list);
  }
  template <class T>
  void read(std::set<T>& set) {
    read_ascending<T>(set, std::identity());
  }
  template <class Key, class T>
  void read(std::map<Key, T>& map) {
    read_ascending<std::pair<Key, T>>(map, [](const auto& entry) { return entry.first; });
  }
  template <class... Cases>
  void read(std::variant<Cases...>& value) {
    const std::uint64_t index = read_integer();
    if (!require(index < sizeof...(Cases))) return;
    std::size_t at = 0;
    const auto read_case = [&]<class Case>(std::type_identity<Case>) {
      if (at++ == index) read(value.template emplace<Case>());
    };
    (read_case(std::type_identity<Cases>()), ...);
  }
  template <class T>
  void read(std::shared_ptr<const T>& value) {
    const auto own = std::make_shared<T>();
    read(*own);
    value = own;
  }
  template <class T>
  void read(SharedValue<T>& value) {
    read(value.change());
  }
  template <class T>
  void read(Runs<T>& runs) {
    for (std::size_t first = 0; first < runs.numbers.size();) {
      std::size_t count = 0;
      T number{};
      (*this)(count, number);
      if (!require(count > 0 && count <= runs.numbers.size() - first)) return;
      std::ranges::fill(runs.numbers.subspan(first, count), number);
      first += count;
    }
  }

  template <class List>
  void read_list(List& list) {
    using Value = typename List::value_type;
    static_assert(!std::is_empty_v<Value>);
    list.clear();
    for (std::size_t left = read_count(); left > 0 && !has_failed_; --left) {
      auto value = Value();
      read(value);
      list.push_back(std::move(value));
    }
  }
  template <class Entry, class Container>
  void read_ascending(Container& container, const auto& key_of) {
    container.clear();
    for (std::size_t left = read_count(); left > 0 && !has_failed_; --left) {
      auto entry = Entry();
      read(entry);
      const bool is_next = container.empty() || container.key_comp()(key_of(*container.rbegin()), key_of(entry));
      if (require(is_next)) container.insert(container.end(), std::move(entry));
    }
  }

  std::string_view bytes_;  ///< not read yet
  bool has_failed_ = false;
};

template <class T>
[[nodiscard]] std::string bytes_of(const T& value) {
  ArchiveWriter archive;
  archive(value);
  return archive.take();
}

/// The value with these bytes, or nothing if no value has them.
template <class T>
[[nodiscard]] std::optional<T> from_bytes(std::string_view bytes) {
  ArchiveReader archive(bytes);
  auto value = T();
  archive(value);
  if (!archive.is_at_end()) return std::nullopt;
  return value;
}

}  // namespace berth
