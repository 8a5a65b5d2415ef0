// Ethernet frames become packets of the credit link again, for one end or for several behind the same port, told apart
// by the address of the peer. There is no ready, as a MAC has none: a frame of n flits comes in n + 1 words at least.
// The last flit waits for the end of its frame, since only there the MAC says whether its check sum is right, and only
// there its length is known. Frames of others are dropped and counted.
`default_nettype none
module fm_eth_decoder #(
    parameter integer W = 256,  // bits of a flit: a multiple of 128 from 128 to 1024
    parameter integer ENDS = 1  // ends of the credit link behind this port
) (
    input  wire                clk,
    input  wire                rst,
`ifdef FM_FAULTS
    input  wire  [        5:0] fault,
`endif
    input  wire                link_up,        // without it, what has come of a frame is dropped
    input  wire  [       47:0] address,        // of this port; the highest byte comes first
    input  wire  [48*ENDS-1:0] peers,          // that of the peer of end 0 in the lowest bits
    input  wire  [       15:0] ethertype,
    input  wire  [      W-1:0] s_axis_tdata,
    input  wire  [    W/8-1:0] s_axis_tkeep,
    input  wire                s_axis_tvalid,
    input  wire                s_axis_tlast,
    input  wire                s_axis_tuser,   // error, in the last word
    output logic [      W-1:0] m_axis_tdata,
    output logic [   ENDS-1:0] m_axis_tvalid,  // of the end that the flit is for
    output logic               m_axis_tlast,
    output logic [        1:0] m_axis_tuser,   // error, first
    output logic [       31:0] frames,         // for one of these ends, the bad ones among them
    output logic [       31:0] dropped_frames,
    output logic [       31:0] bad_frames      // by their length or by the MAC
);
  localparam integer B = W / 8;
  // The least frame: so many words, so many bytes in the last one; packets of so many flits at most are padded to it.
  localparam integer LEAST = (60 + B - 1) / B;
  localparam integer LEAST_TAIL = 60 - (LEAST - 1) * B;
  localparam integer PADDED = (46 + B - 1) / B - 1;
`ifndef FM_FAULTS
  wire [5:0] fault = 6'd0;
`endif

  function automatic [47:0] swapped(input [47:0] bytes);
    swapped = {bytes[7:0], bytes[15:8], bytes[23:16], bytes[31:24], bytes[39:32], bytes[47:40]};
  endfunction

  logic begins, closes, held_first, held_error;
  logic [ENDS-1:0] ends, held;    // whose frame this is, whose flit is held
  logic [W-113:0] carry;          // the bytes of the next flit that came already
  logic [W-1:0] flit;             // that is held
  logic [16:0] flits, words;      // of this frame
  logic [15:0] announced;         // LEN of its header

  // Whose frame it is.
  logic [ENDS-1:0] meant;
  wire is_ours = (s_axis_tdata[47:0] == swapped(address) || fault == 6'd6) &&
                 (s_axis_tdata[111:96] == {ethertype[7:0], ethertype[15:8]} || fault == 6'd5);
  wire [47:0] sender = swapped(s_axis_tdata[95:48]);
  always_comb begin
    integer i;
    for (i = 0; i < ENDS; i = i + 1)
      meant[i] = is_ours && (sender == peers[48*i+:48] || fault == 6'd11);
  end
  wire [ENDS-1:0] ends_now = begins ? meant : ends;

  // A flit is whole.
  wire [W-1:0] flit_now = {s_axis_tdata[111:0], carry};
  wire in_packet = flits == 17'd0 || flits <= {1'b0, announced} || fault == 6'd8;
  wire is_whole = !s_axis_tlast || s_axis_tkeep[13];
  wire completes = s_axis_tvalid && !begins && |ends && is_whole && in_packet;
  wire [15:0] announced_now = completes && flits == 17'd0 ? flit_now[63:48] : announced;

  // The end of a frame.
  wire [16:0] words_now = begins ? 17'd1 : words == 17'h1FFFF ? words : words + 17'd1;
  wire has_tail = s_axis_tkeep[13] && !s_axis_tkeep[14];
  wire has_least_tail = s_axis_tkeep[LEAST_TAIL-1] && !s_axis_tkeep[LEAST_TAIL];
  wire is_short = {16'd0, announced_now} + 1 <= PADDED;
  wire fits = !begins && (is_short ? words_now == 17'(LEAST) && has_least_tail
                                   : words_now == {1'b0, announced_now} + 17'd2 && has_tail);
  wire is_bad = (s_axis_tuser && fault != 6'd9) || (!fits && fault != 6'd7);
  wire ends_frame = s_axis_tvalid && s_axis_tlast;

  wire releases = completes || closes;
  always_ff @(posedge clk) begin
    m_axis_tvalid <= releases ? held : {ENDS{1'b0}};
    m_axis_tdata <= flit;
    m_axis_tlast <= closes;
    m_axis_tuser <= {closes && held_error, held_first};
    if (releases) held <= {ENDS{1'b0}};
    if (completes) begin
      held <= ends;
      flit <= flit_now;
      held_first <= flits == 17'd0 || fault == 6'd10;
      flits <= flits + 17'd1;
    end
    closes <= ends_frame;
    held_error <= is_bad;
    announced <= announced_now;
    if (s_axis_tvalid) begin
      begins <= s_axis_tlast;
      ends <= ends_now;
      carry <= s_axis_tdata[W-1:112];
      words <= words_now;
      if (begins) flits <= 17'd0;
      if (begins && |meant) frames <= frames + 32'd1;
      if (begins && !(|meant)) dropped_frames <= dropped_frames + 32'd1;
      if (s_axis_tlast && |ends_now && is_bad) bad_frames <= bad_frames + 32'd1;
    end
    if (rst || !link_up) begin
      begins <= 1'b1;
      closes <= 1'b0;
      held <= {ENDS{1'b0}};
      m_axis_tvalid <= {ENDS{1'b0}};
    end
    if (rst) begin
      frames <= 32'd0;
      dropped_frames <= 32'd0;
      bad_frames <= 32'd0;
    end
  end
endmodule
`default_nettype wire
