// fm::uint of a native build, and ap_uint of the HLS stub: whole numbers of 1 to 64 bits without sign.
//
// Arithmetic is that of ap_uint as AMD documents it (Vitis High-Level Synthesis User Guide, UG1399, "C++
// Arbitrary Precision Integer Types"): the result of an operator is as wide as it must be to be exact, a
// difference has a sign, and bits are lost only where a result is given to a type. With 8 bits, 255 + 1 is
// 256, 0 - 1 is -1, and both become 0 and 255 in an fm::uint<8>. C++14, no heap.
#ifndef FABRICMARK_MASKED_UINT_HPP
#define FABRICMARK_MASKED_UINT_HPP

#include <cassert>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace fm {
namespace masked {

__extension__ typedef unsigned __int128 bits128;  // any number here, continued upwards by its sign

constexpr int kWidest = 128;

constexpr int larger(int a, int b) { return a > b ? a : b; }
constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr bool is_negative(bits128 bits) { return (bits >> (kWidest - 1)) != 0; }

/// The low `width` bits, continued by their sign or by zeros.
constexpr bits128 continued(bits128 bits, int width, bool is_signed) {
  const bits128 low = bits << (kWidest - width) >> (kWidest - width);
  const bool negative = is_signed && ((low >> (width - 1)) & 1) != 0;
  return negative && width < kWidest ? low | ~bits128{0} << width : low;
}

/// The C++ type that holds `Width` bits; beyond 64 there is none, and nothing converts to one.
struct wider_than_64_bits {};
template <int Width, bool Signed>
struct builtin {
  template <typename Type>
  using of = std::conditional_t<Signed, std::make_signed_t<Type>, Type>;
  using type = std::conditional_t<
      (Width <= 8), of<std::uint8_t>,
      std::conditional_t<
          (Width <= 16), of<std::uint16_t>,
          std::conditional_t<(Width <= 32), of<std::uint32_t>,
                             std::conditional_t<(Width <= 64), of<std::uint64_t>, wider_than_64_bits>>>>;
};

/// What an expression gives, exactly. It becomes an fm::uint or, up to 64 bits, a C++ number.
template <int Width, bool Signed>
class number {
  static_assert(Width <= kWidest, "wider than 128 bits; give a part of the expression to an fm::uint first");
  using builtin_type = typename builtin<Width, Signed>::type;

 public:
  static constexpr int kWidth = Width;
  static constexpr bool kSigned = Signed;
  constexpr explicit number(bits128 bits) : bits_(continued(bits, Width, Signed)) {}
  constexpr bits128 bits() const { return bits_; }
  constexpr operator builtin_type() const { return static_cast<builtin_type>(bits_); }

 private:
  bits128 bits_;
};

/// What operators take: width, sign and bits of a C++ number, or of one of ours, which says them itself.
template <typename Type, typename = void>
struct operand {
  static constexpr bool kIs = false;
  static constexpr bool kOurs = false;
};
template <typename Type>
struct operand<Type, std::enable_if_t<std::is_integral<Type>::value>> {
  static constexpr bool kIs = true;
  static constexpr bool kOurs = false;
  static constexpr bool kSigned = std::is_signed<Type>::value;
  static constexpr int kWidth = std::numeric_limits<Type>::digits + (kSigned ? 1 : 0);
  static constexpr bits128 bits(Type value) { return static_cast<bits128>(value); }
};
template <typename Type>
struct operand<Type, std::enable_if_t<(Type::kWidth > 0)>> {
  static constexpr bool kIs = true;
  static constexpr bool kOurs = true;
  static constexpr bool kSigned = Type::kSigned;
  static constexpr int kWidth = Type::kWidth;
  static constexpr bits128 bits(const Type& value) { return value.bits(); }
};

template <typename Type>
using if_number = std::enable_if_t<operand<Type>::kIs>;
template <typename Left, typename Right>
using if_ours = std::enable_if_t<operand<Left>::kIs && operand<Right>::kIs &&
                                 (operand<Left>::kOurs || operand<Right>::kOurs)>;

template <typename Type>
constexpr bits128 bits_of(const Type& value) {
  return operand<Type>::bits(value);
}

/// One bit of an fm::uint, to read or to write.
template <typename Of>
class bit {
 public:
  static constexpr int kWidth = 1;
  static constexpr bool kSigned = false;
  constexpr bit(Of& of, int index) : of_(of), index_(index) {}
  constexpr bits128 bits() const { return of_.bits() >> index_ & 1; }
  constexpr operator bool() const { return bits() != 0; }
  constexpr bit& operator=(bool value) {
    of_ = Of((of_.bits() & ~(bits128{1} << index_)) | bits128{value} << index_);
    return *this;
  }
  constexpr bit& operator=(const bit& other) { return *this = static_cast<bool>(other); }
  constexpr bit(const bit&) = default;

 private:
  Of& of_;
  int index_;
};

/// Bits `high` to `low` of an fm::uint as a number, to read or to write.
template <typename Of>
class range_of {
 public:
  static constexpr int kWidth = Of::kWidth;
  static constexpr bool kSigned = false;
  constexpr range_of(Of& of, int high, int low) : of_(of), low_(low), ones_(ones(high - low + 1)) {}
  constexpr bits128 bits() const { return of_.bits() >> low_ & ones_; }
  constexpr operator typename Of::builtin_type() const {
    return static_cast<typename Of::builtin_type>(bits());
  }
  template <typename Type, typename = if_number<Type>>
  constexpr range_of& operator=(const Type& value) {
    of_ = Of((of_.bits() & ~(ones_ << low_)) | (bits_of(value) & ones_) << low_);
    return *this;
  }
  constexpr range_of& operator=(const range_of& other) { return *this = Of(other.bits()); }
  constexpr range_of(const range_of&) = default;

 private:
  static constexpr bits128 ones(int count) { return (bits128{1} << count) - 1; }
  Of& of_;
  int low_;
  bits128 ones_;
};

/// A whole number of `Width` bits without sign: what it is given is cut to these.
template <int Width>
class uint {
  static_assert(1 <= Width && Width <= 64, "1 to 64 bits; what is wider is fm::words of several");

 public:
  using builtin_type = typename builtin<Width, false>::type;
  static constexpr int kWidth = Width;
  static constexpr bool kSigned = false;

  uint() = default;  // as ap_uint, without a value
  constexpr explicit uint(bits128 bits) : value_(static_cast<builtin_type>(continued(bits, Width, false))) {}
  template <typename Type, typename = if_number<Type>>
  constexpr uint(const Type& value) : uint(bits_of(value)) {}

  constexpr bits128 bits() const { return value_; }
  constexpr operator builtin_type() const { return value_; }
  constexpr std::uint64_t to_uint64() const { return value_; }

  /// Bit `index`, counted from the lowest, which is 0.
  constexpr bit<uint> operator[](int index) {
    assert(0 <= index && index < Width);
    return {*this, index};
  }
  constexpr bool operator[](int index) const {
    assert(0 <= index && index < Width);
    return (bits() >> index & 1) != 0;
  }
  /// Bits `high` to `low`, both included, `low` the lowest of what is read or written.
  constexpr range_of<uint> range(int high, int low) {
    assert(0 <= low && low <= high && high < Width);
    return {*this, high, low};
  }
  constexpr uint range(int high, int low) const {
    assert(0 <= low && low <= high && high < Width);
    return uint(bits() << (kWidest - 1 - high) >> (kWidest - 1 - high + low));
  }

  // Of the low bits of a sum, difference or product no more than these decide: no width can be too large
  // here.
#define FM_ASSIGNED(op, result)                        \
  template <typename Type, typename = if_number<Type>> \
  constexpr uint& operator op(const Type& other) {     \
    return *this = result;                             \
  }
  FM_ASSIGNED(+=, uint(bits() + bits_of(other)))
  FM_ASSIGNED(-=, uint(bits() - bits_of(other)))
  FM_ASSIGNED(*=, uint(bits() * bits_of(other)))
  FM_ASSIGNED(&=, uint(bits() & bits_of(other)))
  FM_ASSIGNED(|=, uint(bits() | bits_of(other)))
  FM_ASSIGNED(^=, uint(bits() ^ bits_of(other)))
  FM_ASSIGNED(/=, *this / other)
  FM_ASSIGNED(%=, *this % other)
  FM_ASSIGNED(<<=, *this << other)
  FM_ASSIGNED(>>=, *this >> other)
#undef FM_ASSIGNED
  constexpr uint& operator++() { return *this += 1; }
  constexpr uint& operator--() { return *this -= 1; }
  constexpr uint operator++(int) {
    const uint before = *this;
    ++*this;
    return before;
  }
  constexpr uint operator--(int) {
    const uint before = *this;
    --*this;
    return before;
  }

 private:
  builtin_type value_;
};

// The widths of results, as the guide has them. A number without sign needs one bit more beside one with a
// sign.
template <typename Left, typename Right>
struct pair {
  static constexpr bool kLeftSigned = operand<Left>::kSigned;
  static constexpr bool kRightSigned = operand<Right>::kSigned;
  static constexpr bool kSigned = kLeftSigned || kRightSigned;
  static constexpr int kLeft = operand<Left>::kWidth + (kRightSigned && !kLeftSigned ? 1 : 0);
  static constexpr int kRight = operand<Right>::kWidth + (kLeftSigned && !kRightSigned ? 1 : 0);
  static constexpr int kLarger = larger(kLeft, kRight);
  using sum = number<kLarger + 1, kSigned>;
  using difference = number<kLarger + 1, true>;
  using product = number<operand<Left>::kWidth + operand<Right>::kWidth, kSigned>;
  using quotient = number<operand<Left>::kWidth + (kRightSigned ? 1 : 0), kSigned>;
  using remainder = number<smaller(operand<Left>::kWidth, kRight), kLeftSigned>;
  using mixed = number<kLarger, kSigned>;
};

template <typename Type>
constexpr bits128 magnitude(const Type& value) {
  return is_negative(bits_of(value)) ? -bits_of(value) : bits_of(value);
}
template <typename Left, typename Right>
constexpr bool is_less(const Left& left, const Right& right) {
  const bool left_negative = is_negative(bits_of(left)), right_negative = is_negative(bits_of(right));
  return left_negative != right_negative ? left_negative : bits_of(left) < bits_of(right);
}
/// Shifted to the left, or by a negative count to the right, where the sign comes after.
constexpr bits128 shifted(bits128 bits, bits128 count) {
  if (!is_negative(count)) return count < kWidest ? bits << static_cast<int>(count) : bits128{0};
  const bits128 right = -count;
  const bits128 fill = is_negative(bits) ? ~bits128{0} : bits128{0};
  if (right >= kWidest) return fill;
  return bits >> static_cast<int>(right) | fill << static_cast<int>(kWidest - right);
}

#define FM_BITWISE(op, kind)                                                                     \
  template <typename Left, typename Right, typename = if_ours<Left, Right>>                      \
  constexpr typename pair<Left, Right>::kind operator op(const Left& left, const Right& right) { \
    return typename pair<Left, Right>::kind(bits_of(left) op bits_of(right));                    \
  }
FM_BITWISE(+, sum)
FM_BITWISE(-, difference)
FM_BITWISE(*, product)
FM_BITWISE(&, mixed)
FM_BITWISE(|, mixed)
FM_BITWISE(^, mixed)
#undef FM_BITWISE

/// Rounded towards zero; by zero it is undefined, as on the device.
template <typename Left, typename Right, typename = if_ours<Left, Right>>
constexpr typename pair<Left, Right>::quotient operator/(const Left& left, const Right& right) {
  const bits128 quotient = magnitude(left) / magnitude(right);
  const bool negative = is_negative(bits_of(left)) != is_negative(bits_of(right));
  return typename pair<Left, Right>::quotient(negative ? -quotient : quotient);
}
/// What the quotient leaves, with the sign of the left side.
template <typename Left, typename Right, typename = if_ours<Left, Right>>
constexpr typename pair<Left, Right>::remainder operator%(const Left& left, const Right& right) {
  const bits128 remainder = magnitude(left) % magnitude(right);
  return typename pair<Left, Right>::remainder(is_negative(bits_of(left)) ? -remainder : remainder);
}

/// Shifts are as wide as their left side: what leaves it is lost.
template <typename Left, typename Right, typename = std::enable_if_t<operand<Left>::kOurs>,
          typename = if_number<Right>>
constexpr number<Left::kWidth, Left::kSigned> operator<<(const Left& left, const Right& count) {
  return number<Left::kWidth, Left::kSigned>(shifted(left.bits(), bits_of(count)));
}
template <typename Left, typename Right, typename = std::enable_if_t<operand<Left>::kOurs>,
          typename = if_number<Right>>
constexpr number<Left::kWidth, Left::kSigned> operator>>(const Left& left, const Right& count) {
  return number<Left::kWidth, Left::kSigned>(shifted(left.bits(), -bits_of(count)));
}

template <typename Type, typename = std::enable_if_t<operand<Type>::kOurs>>
constexpr number<Type::kWidth + (Type::kSigned ? 0 : 1), true> operator-(const Type& value) {
  return number<Type::kWidth + (Type::kSigned ? 0 : 1), true>(-value.bits());
}
template <typename Type, typename = std::enable_if_t<operand<Type>::kOurs>>
constexpr number<Type::kWidth, Type::kSigned> operator~(const Type& value) {
  return number<Type::kWidth, Type::kSigned>(~value.bits());
}

#define FM_COMPARED(op, result)                                             \
  template <typename Left, typename Right, typename = if_ours<Left, Right>> \
  constexpr bool operator op(const Left& left, const Right& right) {        \
    return result;                                                          \
  }
FM_COMPARED(==, bits_of(left) == bits_of(right))
FM_COMPARED(!=, bits_of(left) != bits_of(right))
FM_COMPARED(<, is_less(left, right))
FM_COMPARED(>, is_less(right, left))
FM_COMPARED(<=, !is_less(right, left))
FM_COMPARED(>=, !is_less(left, right))
#undef FM_COMPARED

}  // namespace masked
}  // namespace fm

#endif
