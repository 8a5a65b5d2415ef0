// Ends of credit links over Intel's Low Latency 40G (W = 256) or 100G (W = 512) Ethernet core with its Avalon-ST client
// interface: the first byte of a frame stands in the highest bits. UNTESTED ON HARDWARE; written against "Low Latency
// 40-Gbps Ethernet IP Core User Guide" and "Low Latency 100G Ethernet Intel FPGA IP Core User Guide" (ready latency 0).
// Ports of the core have the core's names without l4_ or l8_. The core receives in a clock of its own, clk_rxmac; frames
// cross to clk_txmac, in which the ends of the links are. The core adds and removes the FCS.
`default_nettype none
module fm_wrap_ll_ethernet #(
    parameter integer W = 256,
    parameter integer D = 32,  // data flits of a packet at most
    parameter integer ENDS = 1,
    parameter integer JUMBO = 0
) (
    input  wire                clk_txmac,
    input  wire                clk_rxmac,
    input  wire                rst,            // synchronous to clk_txmac
`ifdef FM_FAULTS
    input  wire  [        5:0] fault,
`endif
    input  wire  [       47:0] address,
    input  wire  [48*ENDS-1:0] peers,
    input  wire  [       15:0] ethertype,
    output wire                link_up,
    input  wire  [ W*ENDS-1:0] s_axis_tdata,
    input  wire  [   ENDS-1:0] s_axis_tvalid,
    output wire  [   ENDS-1:0] s_axis_tready,
    input  wire  [   ENDS-1:0] s_axis_tlast,
    input  wire  [ 2*ENDS-1:0] s_axis_tuser,
    output wire  [      W-1:0] m_axis_tdata,
    output wire  [   ENDS-1:0] m_axis_tvalid,
    output wire                m_axis_tlast,
    output wire  [        1:0] m_axis_tuser,
    output wire  [32*ENDS-1:0] sent_frames,
    output wire  [       31:0] frames,
    output wire  [       31:0] dropped_frames,
    output wire  [       31:0] bad_frames,
    // The core.
    output wire  [      W-1:0] tx_data,
    output logic [$clog2(W/8)-1:0] tx_empty,
    output wire                tx_startofpacket,
    output wire                tx_endofpacket,
    output wire                tx_valid,
    input  wire                tx_ready,
    output wire                tx_error,
    input  wire                tx_lanes_stable,
    input  wire  [      W-1:0] rx_data,
    input  wire  [$clog2(W/8)-1:0] rx_empty,
    input  wire                rx_startofpacket,
    input  wire                rx_endofpacket,
    input  wire                rx_valid,
    input  wire  [        5:0] rx_error,
    input  wire                rx_pcs_ready
);
  localparam integer B = W / 8;
  localparam integer EMPTY = $clog2(B);
`ifndef FM_FAULTS
  wire [5:0] fault = 6'd0;
`endif

  // The core says in its own clocks whether there is a link.
  logic [1:0] ready_seen, stable_seen;
  always_ff @(posedge clk_txmac) begin
    ready_seen <= rst ? 2'b00 : {ready_seen[0], rx_pcs_ready};
    stable_seen <= rst ? 2'b00 : {stable_seen[0], tx_lanes_stable};
  end
  assign link_up = ready_seen[1] && stable_seen[1];

  // Towards the core.
  wire [W-1:0] tx_axis_tdata;
  wire [B-1:0] tx_axis_tkeep;
  wire tx_axis_tvalid, tx_axis_tready, tx_axis_tlast, tx_axis_tuser;
  logic begins;
  genvar i;
  generate
    for (i = 0; i < B; i = i + 1) begin : g_tx
      assign tx_data[W-1-8*i-:8] = fault == 6'd23 ? tx_axis_tdata[W-1-8*i-:8] : tx_axis_tdata[8*i+:8];
    end
  endgenerate
  always_comb begin
    integer k;
    tx_empty = {EMPTY{1'b0}};
    for (k = 0; k < B; k = k + 1)
      if (!tx_axis_tkeep[k]) tx_empty = tx_empty + {{(EMPTY - 1) {1'b0}}, 1'b1};
  end
  assign tx_valid = tx_axis_tvalid;
  assign tx_startofpacket = begins;
  assign tx_endofpacket = tx_axis_tlast;
  assign tx_error = tx_axis_tuser;
  assign tx_axis_tready = tx_ready;
  always_ff @(posedge clk_txmac)
    if (rst) begins <= 1'b1;
    else if (tx_axis_tvalid && tx_ready) begins <= tx_axis_tlast;

  // From the core: its words, the other way round, into the other clock. They come with gaps (preamble, FCS and the gap
  // of 12 bytes), so that the FIFO does not fill up where that clock is a little slower; a word that it could not take would
  // make the length of its frame wrong.
  logic in_packet;
  logic [W-1:0] swapped;
  logic [B-1:0] keep;
  always_comb begin
    integer k;
    for (k = 0; k < B; k = k + 1) begin
      swapped[8*k+:8] = rx_data[W-1-8*k-:8];
      keep[k] = !rx_endofpacket || k + 32'(rx_empty) < (fault == 6'd27 ? B + 1 : B);
    end
  end
  wire takes = rx_valid && (rx_startofpacket || in_packet);
  wire is_bad = rx_endofpacket && |rx_error && fault != 6'd24;
  always_ff @(posedge clk_rxmac)
    if (!rx_pcs_ready) in_packet <= 1'b0;
    else if (takes) in_packet <= !rx_endofpacket;
  wire [W-1:0] rx_axis_tdata;
  wire [B-1:0] rx_axis_tkeep;
  wire rx_axis_tvalid, rx_axis_tlast, rx_axis_tuser;
  /* verilator lint_off PINCONNECTEMPTY */
  fm_async_fifo #(
      .W(W), .PLACES_LOG2(4)
  ) crossing (
      .rst(!rx_pcs_ready),
`ifdef FM_FAULTS
      .fault, .s_late(5'd0), .m_late(5'd0),
`endif
      .s_clk(clk_rxmac), .s_axis_tdata(swapped), .s_axis_tkeep(keep), .s_axis_tlast(rx_endofpacket),
      .s_axis_tuser(is_bad), .s_axis_tvalid(takes), .s_axis_tready(), .m_clk(clk_txmac), .m_axis_tdata(rx_axis_tdata),
      .m_axis_tkeep(rx_axis_tkeep), .m_axis_tlast(rx_axis_tlast), .m_axis_tuser(rx_axis_tuser),
      .m_axis_tvalid(rx_axis_tvalid), .m_axis_tready(1'b1)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  fm_eth_port #(
      .W(W), .D(D), .ENDS(ENDS), .JUMBO(JUMBO)
  ) eth (
      .clk(clk_txmac), .rst,
`ifdef FM_FAULTS
      .fault,
`endif
      .link_up, .address, .peers, .ethertype, .s_axis_tdata, .s_axis_tvalid, .s_axis_tready, .s_axis_tlast,
      .s_axis_tuser, .m_axis_tdata, .m_axis_tvalid, .m_axis_tlast, .m_axis_tuser, .tx_axis_tdata, .tx_axis_tkeep,
      .tx_axis_tvalid, .tx_axis_tready, .tx_axis_tlast, .tx_axis_tuser, .rx_axis_tdata, .rx_axis_tkeep,
      .rx_axis_tvalid, .rx_axis_tlast, .rx_axis_tuser, .sent_frames, .frames, .dropped_frames, .bad_frames
  );
endmodule
`default_nettype wire
