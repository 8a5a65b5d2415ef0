// FFT, base kernel: a single work-item design for FPGAs (Meyer 2024, section 3.1.4).
//
// `batch` transforms of 2^LOG_SIZE points, forward or inverse (neither scaled), run one behind the other
// through one pipeline: all radix-4 stages and, for an odd LOG_SIZE, one radix-2 stage, unrolled. Eight
// points a cycle are fetched from global memory in order, enter the pipeline with stride n/8, leave it n/8 -
// 1 cycles later, and are stored in order. A CPU reads and writes in the pipeline's order itself.
//
// Every cycle reads and writes global memory, the first and the last ones too, so that nothing stands in the
// way of bursts: `source` has FFT_MARGIN transforms behind the batch, of which nothing comes out, and
// `target` as many before the results, where nothing is of use.
#include "fft/reorder.h"

// A CPU offers little local memory: the tables, as the window, take up to 2^LOG_SIZE points on the stack.
#if defined(FM_CPU)
#define FFT_MEMORY __private
#else
#define FFT_MEMORY FM_LOCAL
#endif

// The stages with factors, one after the other; before each, LOG_SIZE - 2 * stage bits are left.
#define FFT_STAGES_3(apply) apply(0)
#define FFT_STAGES_5(apply) FFT_STAGES_3(apply) apply(1)
#define FFT_STAGES_7(apply) FFT_STAGES_5(apply) apply(2)
#define FFT_STAGES_9(apply) FFT_STAGES_7(apply) apply(3)
#define FFT_STAGES_11(apply) FFT_STAGES_9(apply) apply(4)
#define FFT_STAGES_13(apply) FFT_STAGES_11(apply) apply(5)
#define FFT_STAGES_15(apply) FFT_STAGES_13(apply) apply(6)
#define FFT_STAGES_17(apply) FFT_STAGES_15(apply) apply(7)
#define FFT_STAGES_4 FFT_STAGES_3
#define FFT_STAGES_6 FFT_STAGES_5
#define FFT_STAGES_8 FFT_STAGES_7
#define FFT_STAGES_10 FFT_STAGES_9
#define FFT_STAGES_12 FFT_STAGES_11
#define FFT_STAGES_14 FFT_STAGES_13
#define FFT_STAGES_16 FFT_STAGES_15
#define FFT_EACH_STAGE(apply) FM_PASTE(FFT_STAGES_, LOG_SIZE)(apply)

// Every stage has its own table, as each reads one entry a cycle.
#define FFT_DECLARE_TABLE(stage) FFT_MEMORY fft_twiddle table_##stage[FFT_STEPS >> 2 * stage];

#define FFT_FILL_TABLE(stage) \
  if (m % (1u << 2 * stage) == 0) table_##stage[m >> 2 * stage] = twiddle;

#define FFT_RUN_STAGE(stage)                                                               \
  lanes = fft_rotate(fft_radix_4(lanes), table_##stage[clock % (FFT_STEPS >> 2 * stage)]); \
  if (LOG_SIZE - 2 * stage > 3) lanes = fft_commute(lanes, window, LOG_SIZE - 2 * stage, clock);

// The cycle in which the first points leave the pipeline and that in which they are stored.
#define FFT_MARGIN (FFT_SIDES + 1)
#if defined(FM_CPU)
#define FFT_EXIT (FFT_STEPS - 1)
#define FFT_STORE FFT_EXIT
#else
#define FFT_EXIT ((FFT_SIDES / 2 + 1) * FFT_STEPS - 1)
#define FFT_STORE (FFT_MARGIN * FFT_STEPS - 1)
#endif

FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(fft)(FM_GLOBAL(fft, source) const fft_complex* restrict source,
                                 FM_GLOBAL(fft, target) fft_complex* restrict target,
                                 FM_GLOBAL(fft, twiddles) const fft_four* restrict twiddles, const uint batch,
                                 const uint inverse) {
  FM_PORT(source)
  FM_PORT(target)
  FM_PORT(twiddles)
  FM_HLS(aggregate variable = source)
  FM_HLS(aggregate variable = target)
  FM_HLS(aggregate variable = twiddles)
  FM_SCALAR(batch)
  FM_SCALAR(inverse)
  FM_CONTROL
  FFT_EACH_STAGE(FFT_DECLARE_TABLE)
#if !defined(FM_CPU)
  FFT_ROWS(fetched);
  FFT_ROWS(finished);
#endif
  fft_eight window[FFT_WINDOW] FM_PARTITION(1);
  FM_HLS(array_partition variable = window complete dim = 1)
  if (batch == 0) return;
  fft_clear_window(window);

  FM_PIPELINE
  for (uint m = 0; m < FFT_STEPS; ++m) {
    FM_HLS(pipeline II = 1)
    const fft_twiddle twiddle = fft_load_twiddle(twiddles + 3 * m);
    FFT_EACH_STAGE(FFT_FILL_TABLE)
  }

  const ulong steps = (ulong)batch * FFT_STEPS;
  FM_SAFE_DISTANCE(fetched, FFT_DISTANCE)
  FM_SAFE_DISTANCE(finished, FFT_DISTANCE)
  FM_PIPELINE
  for (ulong cycle = 0; cycle < steps + FFT_STORE; ++cycle) {
    FM_HLS(pipeline II = 1)
    const uint clock = (uint)cycle;
    const ulong left = cycle - FFT_EXIT;
#if defined(FM_CPU)
    fft_complex v[8] = {(fft_complex)0};
    if (cycle < steps) fft_load_column(source + cycle / FFT_STEPS * (8 * FFT_STEPS), clock % FFT_STEPS, v);
#else
    fft_complex v[8] FM_REGISTERS;
    FM_HLS(array_partition variable = v complete dim = 0)
    fft_load_row(source + 8 * cycle, v);
    fft_put_row(fetched, clock % (FFT_SIDES * FFT_STEPS), v);
    fft_get_column(fetched, (clock / FFT_STEPS + FFT_SIDES / 2) % FFT_SIDES, clock % FFT_STEPS, v);
#endif
    fft_lanes lanes = fft_split(v, inverse);
    fft_move_window(window);
    FFT_EACH_STAGE(FFT_RUN_STAGE)
    fft_join(fft_finish(lanes), v, inverse);
    const uint column = fft_reverse((uint)left % FFT_STEPS);
#if defined(FM_CPU)
    __global fft_complex* const results = target + FFT_MARGIN * (8 * FFT_STEPS);
    if (cycle >= FFT_EXIT) fft_store_column(v, results + left / FFT_STEPS * (8 * FFT_STEPS), column);
#else
    fft_put_column(finished, (uint)(left / FFT_STEPS) % FFT_SIDES, column, v);
    fft_get_row(finished, (uint)(cycle - FFT_STORE) % (FFT_SIDES * FFT_STEPS), v);
    fft_store_row(v, target + 8 * (cycle + 1));
#endif
  }
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
