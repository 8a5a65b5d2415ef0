// The four serial channels of BittWare's 520N to and from other boards, out_0 to out_3 and in_0 to in_3, of
// one type: as Intel's channel extension declares them, each as wide as a cable carries in a cycle. Untested
// on hardware; Intel's FPGA emulator compiles it.
//
// Before this file is included: CHANNEL_WORD, the type; INTERNAL_CHANNELS, 1 for a device alone, whose
// channels end where they begin, and for each channel in_n the out_m that a cable would join it with, PEER_n.
// With 0 they are the board's: the emulator then takes files of their names, in the working directory.
//
// In SYCL C++ for icpx channels are pipes, and the board's are I/O pipes: each has the number of its
// interface in the section `channels` of the board's board_spec.xml, from 0 on. FM_PIPE_INPUT(n) and
// FM_PIPE_OUTPUT(n) say it where a board does not list its inputs and outputs in turn; the emulator's files
// have these names.
#ifndef FABRICMARK_CHANNELS_H
#define FABRICMARK_CHANNELS_H

#include "common/dialect.h"

#if defined(FM_SYCL_AHEAD)
#if !defined(FM_PIPE_INPUT)
#define FM_PIPE_INPUT(number) (2 * (number))
#endif
#if !defined(FM_PIPE_OUTPUT)
#define FM_PIPE_OUTPUT(number) (2 * (number) + 1)
#endif
#define FM_CHANNEL(type, name, words) FM_PIPE(type, name, words)
#define FM_PIPE(type, name, words) using name = sycl::ext::intel::pipe<class name##_pipe, type, words>
#define read_channel_intel(channel) FM_READ_PIPE(channel)
#define FM_READ_PIPE(pipe) pipe::read()
#define write_channel_intel(channel, word) FM_WRITE_PIPE(channel, word)
#define FM_WRITE_PIPE(pipe, word) pipe::write(word)
#else
#if !defined(INTELFPGA_CL) && !defined(cl_intel_channels)
#error channels need the compiler for Intel's FPGAs or their emulator
#endif
#pragma OPENCL EXTENSION cl_intel_channels : enable

// A channel within the device that holds so many words.
#define FM_CHANNEL(type, name, words) channel type name __attribute__((depth(words)))
#endif
#if INTERNAL_CHANNELS
#define FM_OUT(number) FM_CHANNEL(CHANNEL_WORD, out_##number, 512)
#define FM_IN(number)
#elif defined(FM_SYCL_AHEAD)
#define FM_IO(kind, name, place)          \
  struct name##_place {                   \
    static constexpr unsigned id = place; \
  };                                      \
  using name = sycl::ext::intel::kernel_##kind##_io_pipe<name##_place, CHANNEL_WORD, 0>
#define FM_OUT(number) FM_IO(writeable, out_##number, FM_PIPE_OUTPUT(number))
#define FM_IN(number) FM_IO(readable, in_##number, FM_PIPE_INPUT(number))
#else
#define FM_IO(direction, name, number)                                \
  channel CHANNEL_WORD direction##_##number __attribute__((depth(0))) \
  __attribute__((io("kernel_" name "_ch" #number)))
#define FM_OUT(number) FM_IO(out, "output", number)
#define FM_IN(number) FM_IO(in, "input", number)
#endif

FM_OUT(0);
FM_OUT(1);
FM_OUT(2);
FM_OUT(3);
#if INTERNAL_CHANNELS
#define in_0 PEER_0
#define in_1 PEER_1
#define in_2 PEER_2
#define in_3 PEER_3
#else
FM_IN(0);
FM_IN(1);
FM_IN(2);
FM_IN(3);
#endif

#endif
