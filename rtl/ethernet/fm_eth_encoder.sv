// Packets of the credit link become Ethernet frames, one each: 14 bytes of addresses and ethertype, the flits behind them,
// zeros up to the least frame. The check sum, the preamble and the gap are the MAC's. The header moves all flits by 14
// bytes, so that a frame of n flits takes n + 1 words. Where the flits of a packet come without gaps, as from
// `fm_credit_link`, there are none in its frame: the MACs of the vendors want that.
`default_nettype none
module fm_eth_encoder #(
    parameter integer W = 256,   // bits of a flit: a multiple of 128 from 128 to 1024
    parameter integer D = 32,    // data flits of a packet at most
    parameter integer JUMBO = 0  // payloads of 9000 bytes, else of 1500
) (
    input  wire            clk,
    input  wire            rst,
`ifdef FM_FAULTS
    input  wire  [    5:0] fault,
`endif
    input  wire  [   47:0] destination,    // the highest byte goes first
    input  wire  [   47:0] source,
    input  wire  [   15:0] ethertype,
    input  wire  [  W-1:0] s_axis_tdata,
    input  wire            s_axis_tvalid,
    output wire            s_axis_tready,
    input  wire            s_axis_tlast,
    input  wire  [    1:0] s_axis_tuser,   // error, first
    output logic [  W-1:0] m_axis_tdata,
    output logic [W/8-1:0] m_axis_tkeep,
    output logic           m_axis_tvalid,
    input  wire            m_axis_tready,
    output logic           m_axis_tlast,
    output logic           m_axis_tuser,   // error, in the last word
    output logic [   31:0] frames
);
  localparam integer B = W / 8;
  localparam integer LONGEST = JUMBO != 0 ? 9000 : 1500;
  generate
    // There is no module of this name.
    if ((D + 1) * B > LONGEST) begin : g_too_long
      fm_eth_encoder_needs_packets_that_fit_into_a_frame refused ();
    end
    if (W % 128 != 0) begin : g_width
      fm_eth_encoder_needs_W_of_a_multiple_of_128 refused ();
    end
  endgenerate

`ifndef FM_FAULTS
  wire [5:0] fault = 6'd0;
`endif
  // The least frame: so many words, so many bytes in the last one.
  localparam integer LEAST = (60 + B - 1) / B;
  localparam integer LEAST_TAIL = 60 - (LEAST - 1) * B;
  localparam logic [B-1:0] KEEP_HEADER = {{(B - 14) {1'b0}}, 14'h3FFF};
  localparam logic [B-1:0] KEEP_LEAST = {B{1'b1}} >> (B - LEAST_TAIL);

  // Bytes of an address as they leave, the first one lowest.
  function automatic [47:0] swapped(input [47:0] bytes);
    swapped = {bytes[7:0], bytes[15:8], bytes[23:16], bytes[31:24], bytes[39:32], bytes[47:40]};
  endfunction

  logic [111:0] carry;  // the bytes for which the word before had no place
  logic begins, closes, has_carry, error;
  logic [2:0] words;  // of this frame so far, 4 at most

  wire may_send = !m_axis_tvalid || m_axis_tready;
  wire ready = may_send && !(closes && fault != 6'd4);
  assign s_axis_tready = ready;
  wire takes = s_axis_tvalid && ready;
  wire [111:0] header = {ethertype[7:0], ethertype[15:8], swapped(source), swapped(destination)};
  wire [2:0] words_now = begins && !closes ? 3'd1 : words == 3'd4 ? 3'd4 : words + 3'd1;
  // The word that carries the last 14 bytes, and those of the padding behind it.
  wire long_enough = words == 3'd4 || words_now >= 3'(LEAST);
  wire is_padded = words != 3'd4 && words_now == 3'(LEAST);
  wire error_now = s_axis_tuser[1] || (error && !begins);

  always_ff @(posedge clk) begin
    if (may_send) begin
      m_axis_tvalid <= takes || closes;
      m_axis_tlast <= closes && long_enough;
      m_axis_tuser <= closes && long_enough && error && fault != 6'd2;
      m_axis_tkeep <= {B{1'b1}};
      if (closes && long_enough) begin
        if (has_carry && (!is_padded || LEAST_TAIL < 14 || fault == 6'd1)) m_axis_tkeep <= KEEP_HEADER;
        else m_axis_tkeep <= KEEP_LEAST;
      end
      m_axis_tdata <= closes ? {{(W - 112) {1'b0}}, carry} : {s_axis_tdata[W-113:0], begins ? header : carry};
    end
    if (may_send && closes) begin
      carry <= 112'd0;
      has_carry <= 1'b0;
      words <= words_now;
      closes <= !long_enough;
      if (long_enough) frames <= frames + 32'd1;
    end else if (takes) begin
      carry <= fault == 6'd3 && begins ? s_axis_tdata[111:0] : s_axis_tdata[W-1:W-112];
      has_carry <= 1'b1;
      words <= words_now;
      begins <= s_axis_tlast;
      closes <= s_axis_tlast;
      error <= error_now;
    end
    if (rst) begin
      begins <= 1'b1;
      closes <= 1'b0;
      has_carry <= 1'b0;
      m_axis_tvalid <= 1'b0;
      frames <= 32'd0;
    end
  end
  wire unused = s_axis_tuser[0];  // every packet begins a frame
endmodule
`default_nettype wire
