#include "codec/archive.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/digest.hpp"
#include "codec/frame.hpp"

namespace fabricmark::codec {

namespace {

constexpr std::string_view kMagic =
    "\x89"
    "FMC\r\n\x1A\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kDigest = 32;  // digits
constexpr std::size_t kPartBytes = 48;
constexpr std::size_t kMostParts = 1U << 24U;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Numbers lie with their lowest byte first, as all machines have it that this is built for.
class Writer {
 public:
  explicit Writer(std::vector<std::byte>& to) : to_(to) {}
  template <typename Number>
  void number(Number value) {
    text({reinterpret_cast<const char*>(&value), sizeof(value)});
  }
  void text(std::string_view text) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    to_.insert(to_.end(), bytes.begin(), bytes.end());
  }
  void part(const Part& part) {
    number(part.is_stored ? std::uint32_t{0} : static_cast<std::uint32_t>(part.form.element));
    number(static_cast<std::uint32_t>(part.form.predictor));
    number(part.form.channels);
    number(part.form.lanes);
    number(std::uint32_t{part.form.is_swapped});
    number(std::uint32_t{0});
    number(part.form.columns);
    number(part.bytes);
    number(part.coded_bytes);
  }

 private:
  std::vector<std::byte>& to_;
};

void require_parts(const std::vector<Part>& parts, std::uint64_t file_bytes) {
  std::uint64_t bytes = 0;
  for (const Part& part : parts) {
    if (part.bytes > file_bytes - bytes) throw Damage("the parts are longer than the file");
    bytes += part.bytes;
    if (part.is_stored) continue;
    require_form(part.form);
    if (part.form.mode != Mode::kFile) throw Damage("parts of an archive are coded as those of files");
    if (part.bytes % part.form.cell_bytes() != 0) throw Damage("the last cell of a part is cut");
  }
  if (bytes != file_bytes) throw Damage("the parts are shorter than the file");
}

/// Appends what is coded of a part, which becomes a stored one where that is shorter.
void append(std::vector<std::byte>& to, std::span<const std::byte> bytes, Part& part) {
  const std::size_t begin = to.size();
  if (!part.is_stored) {
    to.resize(begin + most_bytes(part.form, bytes.size() / part.form.cell_bytes()));
    part.coded_bytes = encode(part.form, bytes, std::span(to).subspan(begin));
    part.is_stored = part.coded_bytes >= bytes.size();
    to.resize(part.is_stored ? begin : begin + part.coded_bytes);
  }
  if (part.is_stored) {
    part.coded_bytes = bytes.size();
    to.insert(to.end(), bytes.begin(), bytes.end());
  }
}

/// Fewer can no array have: its classes.
std::uint64_t least_bytes(const Part& part) {
  const std::uint64_t words = part.bytes / part.form.word_bytes();
  return part.form.word_bytes() == 4 ? words / 8 * 3 : words / 2;
}

}  // namespace

std::size_t head_bytes(std::size_t parts, std::size_t text) {
  constexpr std::size_t kNumbers = 4 + 4 + 8 + 8;
  return kMagic.size() + kNumbers + kDigest + parts * kPartBytes + text + kDigest;
}

std::vector<std::byte> archived(std::span<const std::byte> file, std::vector<Part>& parts,
                                std::string_view text) {
  require_parts(parts, file.size());
  if (parts.size() > kMostParts) throw Damage("the file has too many parts");
  std::vector<std::byte> all(head_bytes(parts.size(), text.size()));
  std::size_t begin = 0;
  for (Part& part : parts) {
    append(all, file.subspan(begin, part.bytes), part);
    begin += part.bytes;
  }
  std::vector<std::byte> head;
  Writer writer(head);
  writer.text(kMagic);
  writer.number(kVersion);
  writer.number(static_cast<std::uint32_t>(parts.size()));
  writer.number(std::uint64_t{file.size()});
  writer.number(std::uint64_t{text.size()});
  writer.text(content_digest(text_of(file)));
  for (const Part& part : parts) writer.part(part);
  writer.text(text);
  writer.text(content_digest(text_of(head)));
  std::ranges::copy(head, all.begin());
  return all;
}

class Archive::Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> taken(std::uint64_t count) {
    if (bytes_.size() - at_ < count) throw Damage("the archive is cut");
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  std::string_view text(std::uint64_t count) { return text_of(taken(count)); }
  template <typename Number>
  Number number() {
    Number value{};
    std::memcpy(&value, taken(sizeof(value)).data(), sizeof(value));
    return value;
  }
  Part part() {
    Part part;
    const auto element = number<std::uint32_t>();
    part.is_stored = element == 0;
    if (!part.is_stored) part.form.element = static_cast<Element>(element);
    part.form.predictor = static_cast<Predictor>(number<std::uint32_t>());
    part.form.channels = number<std::uint32_t>();
    part.form.lanes = number<std::uint32_t>();
    part.form.is_swapped = number<std::uint32_t>() != 0;
    if (number<std::uint32_t>() != 0) throw Damage("a part says what this version does not know");
    part.form.columns = number<std::uint64_t>();
    part.bytes = number<std::uint64_t>();
    part.coded_bytes = number<std::uint64_t>();
    return part;
  }
  [[nodiscard]] std::span<const std::byte> before() const { return bytes_.first(at_); }
  [[nodiscard]] std::span<const std::byte> rest() const { return bytes_.subspan(at_); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

Archive::Archive(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  if (bytes.size() < kMagic.size() || reader.text(kMagic.size()) != kMagic)
    throw Damage("this is no archive of Fabricmark");
  if (reader.number<std::uint32_t>() != kVersion) throw Damage("the archive has another version");
  const auto count = reader.number<std::uint32_t>();
  file_bytes_ = reader.number<std::uint64_t>();
  const auto text_bytes = reader.number<std::uint64_t>();
  digest_ = reader.text(kDigest);
  if (count > reader.rest().size() / kPartBytes) throw Damage("the archive is cut");
  for (std::uint32_t i = 0; i < count; ++i) parts_.push_back(reader.part());
  text_ = reader.text(text_bytes);
  const std::string digest = content_digest(text_of(reader.before()));
  if (reader.text(kDigest) != digest) throw Damage("the head of the archive is damaged");
  require_parts(parts_, file_bytes_);
  coded_ = reader.rest();
  std::uint64_t coded = 0;
  for (const Part& part : parts_) {
    if (part.coded_bytes > coded_.size() - coded) throw Damage("the archive is cut");
    coded += part.coded_bytes;
    const std::uint64_t least = part.is_stored ? part.bytes : least_bytes(part);
    if (part.coded_bytes < least) throw Damage("a part is longer than what is coded of it");
  }
  if (coded != coded_.size()) throw Damage("the archive is longer than its parts");
}

void Archive::unpack(std::span<std::byte> file) const {
  if (file.size() != file_bytes_) throw Damage("the file has another length");
  std::size_t at = 0;
  std::size_t coded_at = 0;
  for (const Part& part : parts_) {
    const std::span<const std::byte> from = coded_.subspan(coded_at, part.coded_bytes);
    const std::span<std::byte> to = file.subspan(at, part.bytes);
    std::size_t used = part.bytes;
    if (part.is_stored) {
      std::ranges::copy(from.first(used), to.begin());
    } else {
      used = decode(part.form, from, to);
    }
    if (used != part.coded_bytes) throw Damage("a part is shorter than what is coded of it");
    at += part.bytes;
    coded_at += part.coded_bytes;
  }
  if (content_digest(text_of(file)) != digest_) throw Damage("what comes out is not what went in");
}

Predictor better_predictor(const Form& form, std::span<const std::byte> cells) {
  if (form.columns < std::max<std::uint64_t>(form.lanes, 2)) return Predictor::kLine;
  constexpr std::size_t kSampleCells = std::size_t{1} << 16U;
  constexpr std::size_t kRows = 4;
  const std::size_t each = form.cell_bytes();
  const std::size_t count = cells.size() / each;
  const std::size_t rows = count / form.columns;
  const std::size_t most = std::max<std::size_t>(kSampleCells, kRows * form.columns);
  const std::size_t wanted = std::min(count, most);
  const std::size_t first = std::min(rows / 2 * form.columns, count - wanted);
  const std::span<const std::byte> sample = cells.subspan(first * each, wanted * each);
  std::vector<std::byte> coded;
  std::size_t least = 0;
  Predictor better = Predictor::kLine;
  for (const Predictor predictor :
       {Predictor::kLine, Predictor::kLorenzo, Predictor::kPlane, Predictor::kSmooth}) {
    Form tried = form;
    tried.predictor = predictor;
    coded.resize(most_bytes(tried, wanted));
    const std::size_t bytes = encode(tried, sample, coded);
    if (predictor == Predictor::kLine || bytes < least) {
      least = bytes;
      better = predictor;
    }
  }
  return better;
}

}  // namespace fabricmark::codec
