#include "apps/shallow_water/checkpoint.hpp"

#include <cstring>
#include <fstream>
#include <iterator>

#include "base/atomic_file.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"

namespace fabricmark::shallow_water {

namespace {

constexpr std::string_view kMagic = "fabricmark shallow water 1\n";

/// Numbers as their bytes, one behind the other.
class Writer {
 public:
  template <typename T>
  void add(const T& value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add(const std::vector<double>& values) {
    add(values.size());
    text_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  template <typename T>
  T number() {
    T value{};
    copy(&value, sizeof value);
    return value;
  }
  std::vector<double> numbers() {
    const auto count = number<std::size_t>();
    if (count > text_.size() / sizeof(double)) throw std::out_of_range("checkpoint");
    std::vector<double> values(count);
    copy(values.data(), count * sizeof(double));
    return values;
  }

 private:
  void copy(void* to, std::size_t bytes) {
    if (bytes > text_.size()) throw std::out_of_range("checkpoint");
    if (bytes > 0) std::memcpy(to, text_.data(), bytes);
    text_.remove_prefix(bytes);
  }
  std::string_view text_;
};

constexpr std::size_t kDigest = 32;  // characters of content_digest

Error damaged(const std::filesystem::path& file) {
  return bad_use("'" + file.string() + "' is no whole checkpoint of fm_shallow_water",
                 "name a file that --checkpoint has written");
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  Writer body;
  body.add(checkpoint.step);
  body.add(checkpoint.dt);
  body.add(checkpoint.volume_at_start);
  body.add(checkpoint.field.modes);
  body.add(checkpoint.field.elements);
  body.add(checkpoint.field.values);
  body.add(checkpoint.outflow);
  write_atomically(
      file, std::string(kMagic) + content_digest(checkpoint.key) + content_digest(body.text()) + body.text());
}

Checkpoint read_checkpoint(const std::filesystem::path& file, const std::string& key) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw bad_use("cannot read the checkpoint '" + file.string() + "'", "check the file's name");
  }
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  if (!text.starts_with(kMagic) || text.size() < kMagic.size() + 2 * kDigest) throw damaged(file);
  const std::string body = text.substr(kMagic.size() + 2 * kDigest);
  if (text.substr(kMagic.size() + kDigest, kDigest) != content_digest(body)) throw damaged(file);
  if (text.substr(kMagic.size(), kDigest) != content_digest(key)) {
    throw bad_use("the checkpoint '" + file.string() + "' is of another run",
                  "give the same mesh, case, order, data type, flux and constants as the run that wrote it");
  }
  Checkpoint checkpoint{.key = key};
  Reader reader(body);
  try {
    checkpoint.step = reader.number<std::int64_t>();
    checkpoint.dt = reader.number<double>();
    checkpoint.volume_at_start = reader.number<double>();
    checkpoint.field.modes = reader.number<int>();
    checkpoint.field.elements = reader.number<std::size_t>();
    checkpoint.field.values = reader.numbers();
    checkpoint.outflow = reader.numbers();
  } catch (const std::out_of_range&) {
    throw damaged(file);
  }
  return checkpoint;
}

}  // namespace fabricmark::shallow_water
