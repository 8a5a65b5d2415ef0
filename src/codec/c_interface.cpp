#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "codec/archive.hpp"
#include "codec/frame.hpp"
#include "codec/include/fabricmark/codec.h"

namespace {

using namespace fabricmark::codec;

std::string& last_error() {
  thread_local std::string text;
  return text;
}

/// What C can take: no exception leaves it.
template <typename Body>
int called(const Body& body) {
  try {
    body();
    return 0;
  } catch (const std::bad_alloc&) {
    last_error() = "there is not enough memory";
  } catch (const std::exception& error) {
    last_error() = error.what();
  }
  return -1;
}

Form form_of(const fm_codec_form& form) {
  if (form.reserved != 0) throw Damage("the form says what this version does not know");
  return {.element = static_cast<Element>(form.element),
          .predictor = static_cast<Predictor>(form.predictor),
          .mode = static_cast<Mode>(form.mode),
          .channels = form.channels,
          .lanes = form.lanes,
          .flit_bits = form.flit_bits,
          .columns = form.columns,
          .is_swapped = form.swapped != 0};
}

Part part_of(const fm_codec_part& part) {
  Part made;
  made.is_stored = part.form.element == FM_CODEC_STORED;
  made.bytes = part.bytes;
  if (!made.is_stored) made.form = form_of(part.form);
  return made;
}

std::span<const std::byte> bytes_at(const void* from, std::uint64_t bytes) {
  return {static_cast<const std::byte*>(from), bytes};
}
std::span<std::byte> bytes_at(void* to, std::uint64_t bytes) { return {static_cast<std::byte*>(to), bytes}; }

}  // namespace

extern "C" {

const char* fm_codec_last_error(void) { return last_error().c_str(); }

int fm_codec_most_bytes(const fm_codec_form* form, uint64_t cells, uint64_t* bytes) {
  return called([&] {
    const Form wanted = form_of(*form);
    require_form(wanted);
    *bytes = most_bytes(wanted, cells);
  });
}

int fm_codec_encode(const fm_codec_form* form, const void* cells, uint64_t bytes, void* to, uint64_t room,
                    uint64_t* used) {
  return called([&] { *used = encode(form_of(*form), bytes_at(cells, bytes), bytes_at(to, room)); });
}

int fm_codec_decode(const fm_codec_form* form, const void* from, uint64_t bytes, void* cells,
                    uint64_t cell_bytes, uint64_t* used) {
  return called([&] { *used = decode(form_of(*form), bytes_at(from, bytes), bytes_at(cells, cell_bytes)); });
}

int fm_codec_choose_predictor(fm_codec_form* form, const void* cells, uint64_t bytes) {
  return called([&] {
    Form tried = form_of(*form);
    tried.predictor = Predictor::kLine;
    require_form(tried);
    form->predictor = static_cast<uint32_t>(better_predictor(tried, bytes_at(cells, bytes)));
  });
}

int fm_codec_archive_most_bytes(const fm_codec_part* parts, uint64_t count, uint64_t text_bytes,
                                uint64_t* bytes) {
  return called([&] {
    *bytes = head_bytes(count, text_bytes);
    for (const fm_codec_part& part : std::span(parts, count)) *bytes += part.bytes;
  });
}

int fm_codec_archive_write(const void* file, uint64_t bytes, fm_codec_part* parts, uint64_t count,
                           const char* text, uint64_t text_bytes, void* to, uint64_t room, uint64_t* used) {
  return called([&] {
    const std::span<fm_codec_part> given(parts, count);
    std::vector<Part> made(count);
    std::ranges::transform(given, made.begin(), part_of);
    const std::vector<std::byte> archive = archived(bytes_at(file, bytes), made, {text, text_bytes});
    if (archive.size() > room) throw Damage("there is no room for the archive");
    std::ranges::copy(archive, static_cast<std::byte*>(to));
    for (std::size_t i = 0; i < count; ++i) {
      parts[i].coded_bytes = made[i].coded_bytes;
      if (made[i].is_stored) parts[i].form.element = FM_CODEC_STORED;
    }
    *used = archive.size();
  });
}

int fm_codec_archive_head(const void* archive, uint64_t bytes, uint64_t* file_bytes, uint64_t* parts,
                          const char** text, uint64_t* text_bytes) {
  return called([&] {
    const Archive found(bytes_at(archive, bytes));
    *file_bytes = found.file_bytes();
    *parts = found.parts().size();
    *text = found.text().data();
    *text_bytes = found.text().size();
  });
}

int fm_codec_archive_read(const void* archive, uint64_t bytes, void* file, uint64_t file_bytes) {
  return called([&] { Archive(bytes_at(archive, bytes)).unpack(bytes_at(file, file_bytes)); });
}

}  // extern "C"
