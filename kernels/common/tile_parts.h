// Products by matrix units, part by part: PART_DEPTH columns of the left and rows of the right matrix come to
// local memory by asynchronous copies of 16 bytes, STAGES - 1 parts ahead (PTX ISA 8.0, section 9.7.8.24).
//
// Units cut sums of floats off to the bits of their accumulators instead of rounding them, an error that
// grows with the depth: with random inputs of n = 8192 on an H200 it was 528 eps sqrt(n) / 3, and 230 by
// plain OpenCL C. So they add over CHUNK_DEPTH steps, and a work-item adds what comes out: 31.
//
// Before this file is included, LEFT_PLACE(row, piece) and RIGHT_PLACE(row, piece) say where a part has its
// pieces, SHOW_PART what units need to see them, and multiply_part(sum, part) adds the products of a part.
#ifndef FABRICMARK_TILE_PARTS_H
#define FABRICMARK_TILE_PARTS_H

#define CHUNK_DEPTH 512
#if TILE_VALUE_BYTES == 4 && !(defined(TILE_MOST_DEPTH) && TILE_MOST_DEPTH + 0 <= CHUNK_DEPTH)
#define HAS_CHUNKS 1
#else
#define HAS_CHUNKS 0
#endif

#define COPY_PIECE(to, from) \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"((ulong)(from)))

// Begins to copy a part; `to` is its address in local memory.
FM_INLINE void copy_part(const uint to, __global const TILE_INPUT* const left, const size_t left_stride,
                         __global const TILE_INPUT* const right, const size_t right_stride) {
  const uint item = (uint)get_local_id(0);
  FM_PRAGMA(unroll)
  for (uint n = 0; n < BLOCK_ROWS * LEFT_PIECES / GROUP_ITEMS; ++n) {
    const uint i = item + n * GROUP_ITEMS, row = i / LEFT_PIECES, piece = i % LEFT_PIECES;
    COPY_PIECE(to + LEFT_PLACE(row, piece) * 16, left + row * left_stride + piece * PIECE);
  }
  FM_PRAGMA(unroll)
  for (uint n = 0; n < PART_DEPTH * RIGHT_PIECES / GROUP_ITEMS; ++n) {
    const uint i = item + n * GROUP_ITEMS, row = i / RIGHT_PIECES, piece = i % RIGHT_PIECES;
    COPY_PIECE(to + RIGHT_PLACE(row, piece) * 16, right + row * right_stride + piece * PIECE);
  }
}

#if HAS_CHUNKS
FM_INLINE void add_chunk(float sum[SUM_ROWS][SUM_COLUMNS], float chunk[SUM_ROWS][SUM_COLUMNS]) {
  FM_PRAGMA(unroll)
  for (uint i = 0; i < SUM_ROWS; ++i) {
    FM_PRAGMA(unroll)
    for (uint j = 0; j < SUM_COLUMNS; ++j) {
      sum[i][j] += chunk[i][j];
      chunk[i][j] = 0;
    }
  }
}
#endif

// sum += left right over `depth` steps, a multiple of PART_DEPTH; rows of the matrices are `left_stride` and
// `right_stride` elements apart, starts and strides multiples of 16 bytes. Called by all work-items of the
// group.
FM_INLINE void add_products(TILE_VALUE sum[SUM_ROWS][SUM_COLUMNS], __local uint4* const parts,
                            __global const TILE_INPUT* const left, const size_t left_stride,
                            __global const TILE_INPUT* const right, const size_t right_stride,
                            const uint depth) {
  const uint at = (uint)(size_t)parts;
  FM_PRAGMA(unroll)
  for (uint p = 0; p < STAGES - 1; ++p) {
    if (p * PART_DEPTH < depth)
      copy_part(at + p * PART_PIECES * 16, left + p * PART_DEPTH, left_stride,
                right + p * PART_DEPTH * right_stride, right_stride);
    asm volatile("cp.async.commit_group;");
  }
#if HAS_CHUNKS
  float chunk[SUM_ROWS][SUM_COLUMNS] = {{0}};
#endif
  uint read = 0, write = STAGES - 1;
#if defined(STEP_DEPTH)
  // Steps are loaded one ahead. What the last one of a part has to do hides the barrier before the next part.
  Step steps[2];
  asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
  barrier(CLK_LOCAL_MEM_FENCE);
  load_step(&steps[0], parts, 0);
  for (uint k = 0; k < depth; k += PART_DEPTH) {
    const uint ahead = k + (STAGES - 1) * PART_DEPTH;
    if (ahead < depth)
      copy_part(at + write * PART_PIECES * 16, left + ahead, left_stride, right + ahead * right_stride,
                right_stride);
    asm volatile("cp.async.commit_group;");
    FM_PRAGMA(unroll)
    for (uint step = 0; step < PART_DEPTH / STEP_DEPTH; ++step) {
      const bool is_last = step + 1 == PART_DEPTH / STEP_DEPTH;
      if (is_last) {
        write = read;
        read = read + 1 == STAGES ? 0 : read + 1;
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      load_step(&steps[(step + 1) % 2], parts + read * PART_PIECES, is_last ? 0 : (step + 1) * STEP_DEPTH);
      multiply_step(sum, &steps[step % 2]);
    }
  }
#else
  for (uint k = 0; k < depth; k += PART_DEPTH) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));  // all but the last
    SHOW_PART;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint ahead = k + (STAGES - 1) * PART_DEPTH;
    if (ahead < depth)
      copy_part(at + write * PART_PIECES * 16, left + ahead, left_stride, right + ahead * right_stride,
                right_stride);
    asm volatile("cp.async.commit_group;");
#if HAS_CHUNKS
    multiply_part(chunk, parts + read * PART_PIECES);
    if ((k + PART_DEPTH) % CHUNK_DEPTH == 0 || k + PART_DEPTH >= depth) add_chunk(sum, chunk);
#else
    multiply_part(sum, parts + read * PART_PIECES);
#endif
    read = read + 1 == STAGES ? 0 : read + 1;
    write = write + 1 == STAGES ? 0 : write + 1;
  }
#endif
  asm volatile("cp.async.wait_group 0;");
  barrier(CLK_LOCAL_MEM_FENCE);
}

#endif
