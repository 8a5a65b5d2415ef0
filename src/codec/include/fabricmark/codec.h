/* Lossless compression of arrays and fields, by libfabricmark_codec. What bits it makes: docs/codec.md.
 *
 * Every function returns 0, or -1 where fm_codec_last_error() says why. Buffers are the caller's. */
#ifndef FABRICMARK_CODEC_H
#define FABRICMARK_CODEC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {                      /* of fm_codec_form.element */
       FM_CODEC_STORED = 0, /* of parts of an archive only: bytes as they are */
       FM_CODEC_FLOAT32 = 1,
       FM_CODEC_FLOAT64 = 2,
       FM_CODEC_INT32 = 3,
       FM_CODEC_INT64 = 4
};
enum {                       /* of fm_codec_form.predictor */
       FM_CODEC_LINE = 1,    /* second differences along rows */
       FM_CODEC_LORENZO = 2, /* first ones along and across rows */
       FM_CODEC_PLANE = 3,   /* second ones along, first ones across */
       FM_CODEC_SMOOTH = 4   /* second ones along and across */
};
enum { FM_CODEC_FILE = 1, FM_CODEC_STREAM = 2 }; /* of fm_codec_form.mode */

typedef struct fm_codec_form {
  uint32_t element;
  uint32_t predictor;
  uint32_t mode;
  uint32_t channels;  /* words of a cell: 1 to 16 */
  uint32_t lanes;     /* cells that are coded at once: 1, 2 or 4 */
  uint32_t flit_bits; /* a block is filled up to whole flits: 32, 64 .. 512; of files 32 */
  uint32_t swapped;   /* 1: numbers in memory lie with their highest byte first */
  uint32_t reserved;  /* 0 */
  uint64_t columns;   /* cells of a row, of all but FM_CODEC_LINE */
} fm_codec_form;

typedef struct fm_codec_part {
  fm_codec_form form;
  uint64_t bytes;       /* in the file */
  uint64_t coded_bytes; /* in the archive, filled in by the library */
} fm_codec_part;

/* Why the last call of this thread failed, in one line. */
const char* fm_codec_last_error(void);

/* Bytes that the coded form of so many cells never exceeds. */
int fm_codec_most_bytes(const fm_codec_form* form, uint64_t cells, uint64_t* bytes);
/* `room`: of `to`, at least what fm_codec_most_bytes says; `used`: how many bytes were made. */
int fm_codec_encode(const fm_codec_form* form, const void* cells, uint64_t bytes, void* to, uint64_t room,
                    uint64_t* used);
/* `bytes`: of the coded form or more; `used`: how many it had; `cell_bytes`: of all cells. */
int fm_codec_decode(const fm_codec_form* form, const void* from, uint64_t bytes, void* cells,
                    uint64_t cell_bytes, uint64_t* used);
/* Sets form->predictor to what makes a sample of the cells shorter; form->columns 0: there are no rows. */
int fm_codec_choose_predictor(fm_codec_form* form, const void* cells, uint64_t bytes);

/* An archive of a file, all of which is parts one behind the other; `text` says of them what a reader may
 * want. fm_codec_archive_most_bytes says how much room `to` needs. */
int fm_codec_archive_most_bytes(const fm_codec_part* parts, uint64_t count, uint64_t text_bytes,
                                uint64_t* bytes);
int fm_codec_archive_write(const void* file, uint64_t bytes, fm_codec_part* parts, uint64_t count,
                           const char* text, uint64_t text_bytes, void* to, uint64_t room, uint64_t* used);
/* Numbers that the head of an archive has; `text` points into the archive. */
int fm_codec_archive_head(const void* archive, uint64_t bytes, uint64_t* file_bytes, uint64_t* parts,
                          const char** text, uint64_t* text_bytes);
/* `file_bytes` as fm_codec_archive_head says. */
int fm_codec_archive_read(const void* archive, uint64_t bytes, void* file, uint64_t file_bytes);

#ifdef __cplusplus
}
#endif

#endif
