#include "apps/tsunami/netcdf.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace fabricmark::tsunami {

namespace {

/// Of the specification.
enum Type : std::uint32_t {
  kByte = 1,
  kChar,
  kShort,
  kInt,
  kFloat,
  kDouble,
  kUByte,
  kUShort,
  kUInt,
  kInt64,
  kUInt64
};
enum Tag : std::uint32_t { kDimensions = 10, kVariables = 11, kAttributes = 12 };

std::size_t bytes_of(std::uint32_t type) {
  switch (type) {
    case kByte:
    case kChar:
    case kUByte:
      return 1;
    case kShort:
    case kUShort:
      return 2;
    case kInt:
    case kFloat:
    case kUInt:
      return 4;
    case kDouble:
    case kInt64:
    case kUInt64:
      return 8;
    default:
      throw NetCdf::Damage("have numbers of an unknown type");
  }
}

/// A number that lies with its highest byte first.
std::uint64_t bits_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits = bits << 8U | static_cast<unsigned char>(bytes[at + i]);
  return bits;
}

double number_at(std::string_view bytes, std::size_t at, std::uint32_t type) {
  const std::uint64_t bits = bits_at(bytes, at, bytes_of(type));
  switch (type) {
    case kByte:
      return static_cast<std::int8_t>(bits);
    case kShort:
      return static_cast<std::int16_t>(bits);
    case kInt:
      return static_cast<std::int32_t>(bits);
    case kFloat:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case kDouble:
      return std::bit_cast<double>(bits);
    case kInt64:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    default:
      return static_cast<double>(bits);
  }
}

const NetCdf::Attribute* found(const std::vector<NetCdf::Attribute>& attributes, std::string_view name) {
  const auto at = std::ranges::find(attributes, name, &NetCdf::Attribute::name);
  return at == attributes.end() ? nullptr : &*at;
}

std::optional<double> number_of(const std::vector<NetCdf::Attribute>& attributes, std::string_view name) {
  const NetCdf::Attribute* const attribute = found(attributes, name);
  if (attribute == nullptr || attribute->numbers.size() != 1) return std::nullopt;
  return attribute->numbers.front();
}

}  // namespace

/// Reads one behind the other what stands before the numbers.
class NetCdf::Header {
 public:
  explicit Header(std::string_view bytes) : bytes_(bytes) {
    constexpr std::string_view kMagic = "CDF";
    constexpr std::string_view kHdf5 = "\x89HDF";
    if (bytes.starts_with(kHdf5)) throw Damage("are NetCDF-4, not the classic format");
    if (!bytes.starts_with(kMagic) || bytes.size() == kMagic.size()) throw Damage("are no NetCDF file");
    at_ = kMagic.size();
    version_ = bits(1);
    if (version_ != 1 && version_ != 2 && version_ != 5) throw Damage("are no NetCDF file");
    count();  // of records
  }

  std::vector<Dimension> dimensions() {
    std::vector<Dimension> list(length_of_list(kDimensions));
    for (Dimension& dimension : list) dimension = {name(), count()};
    return list;
  }
  std::vector<Attribute> attributes() {
    std::vector<Attribute> list(length_of_list(kAttributes));
    for (Attribute& attribute : list) attribute = one_attribute();
    return list;
  }
  std::vector<Variable> variables(std::size_t dimensions) {
    std::vector<Variable> list(length_of_list(kVariables));
    for (Variable& variable : list) {
      variable.name = name();
      variable.dimensions.resize(fitting(count(), kLeastOfItem));
      for (std::size_t& dimension : variable.dimensions) {
        dimension = count();
        if (dimension >= dimensions) throw Damage("name a dimension that they have not");
      }
      variable.attributes = attributes();
      variable.type = static_cast<std::uint32_t>(bits(4));
      count();  // of bytes, which follows from the dimensions and may be too small for them
      variable.begin = bits(version_ == 1 ? 4 : 8);
    }
    return list;
  }

 private:
  static constexpr std::size_t kLeastOfItem = 4;  ///< bytes: no list is longer than what is left has room for

  std::uint64_t bits(std::size_t bytes) {
    if (bytes_.size() - at_ < bytes) throw Damage("are cut");
    return bits_at(bytes_, std::exchange(at_, at_ + bytes), bytes);
  }
  std::uint64_t count() { return bits(version_ == 5 ? 8 : 4); }
  /// The same number, where so many of so many bytes are still there.
  [[nodiscard]] std::size_t fitting(std::uint64_t number, std::size_t bytes) const {
    if (number > (bytes_.size() - at_) / bytes) throw Damage("are cut");
    return number;
  }
  std::size_t length_of_list(std::uint32_t tag) {
    const std::uint64_t is = bits(4);
    const std::size_t length = fitting(count(), kLeastOfItem);
    if (is != tag && (is != 0 || length != 0)) throw Damage("have a list where another one should stand");
    return length;
  }
  /// So many bytes, and those that fill up the last four.
  std::string_view taken(std::size_t bytes) {
    const std::string_view text = bytes_.substr(at_, bytes);
    at_ = std::min(bytes_.size(), at_ + (bytes + 3) / 4 * 4);
    return text;
  }
  std::string name() { return std::string(taken(fitting(count(), 1))); }
  Attribute one_attribute() {
    Attribute attribute{.name = name(), .text = {}, .numbers = {}};
    const auto type = static_cast<std::uint32_t>(bits(4));
    const std::size_t each = bytes_of(type);
    const std::size_t length = fitting(count(), each);
    const std::string_view values = taken(length * each);
    if (type == kChar) {
      attribute.text = values.substr(0, values.find('\0'));
      return attribute;
    }
    for (std::size_t i = 0; i < length; ++i) attribute.numbers.push_back(number_at(values, i * each, type));
    return attribute;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t version_ = 0;
};

std::string NetCdf::Variable::text(std::string_view of) const {
  const Attribute* const attribute = found(attributes, of);
  return attribute == nullptr ? std::string() : attribute->text;
}

std::optional<double> NetCdf::Variable::number(std::string_view of) const {
  return number_of(attributes, of);
}

NetCdf::NetCdf(std::string bytes) : bytes_(std::move(bytes)) {
  Header header(bytes_);
  dimensions_ = header.dimensions();
  attributes_ = header.attributes();
  variables_ = header.variables(dimensions_.size());
}

const NetCdf::Variable* NetCdf::variable(std::string_view name) const {
  const auto at = std::ranges::find(variables_, name, &Variable::name);
  return at == variables_.end() ? nullptr : &*at;
}

std::optional<double> NetCdf::number(std::string_view name) const { return number_of(attributes_, name); }

std::vector<double> NetCdf::numbers(const Variable& variable) const {
  const std::size_t each = bytes_of(variable.type);
  if (variable.type == kChar) throw Damage("have letters for numbers");
  if (variable.begin > bytes_.size()) throw Damage("are cut");
  const std::size_t most = (bytes_.size() - variable.begin) / each;
  std::size_t count = 1;
  for (const std::size_t dimension : variable.dimensions) {
    const std::uint64_t length = dimensions_[dimension].length;
    if (length == 0) throw Damage("grow along '" + dimensions_[dimension].name + "', which is not read here");
    if (length > most / count) throw Damage("are cut");
    count *= length;
  }
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = number_at(bytes_, variable.begin + i * each, variable.type);
  return values;
}

}  // namespace fabricmark::tsunami
