// An Ethernet port of one end of a credit link, or of several: an encoder each, an arbiter, one decoder. All in the clock
// of the MAC's stream. `s` are the flits that the ends send, `m` those for them; `tx` and `rx` go to the MAC.
`default_nettype none
module fm_eth_port #(
    parameter integer W = 256,   // bits of a flit: a multiple of 128 from 128 to 1024
    parameter integer D = 32,    // data flits of a packet at most
    parameter integer ENDS = 1,
    parameter integer JUMBO = 0  // payloads of 9000 bytes, else of 1500
) (
    input  wire                clk,
    input  wire                rst,
`ifdef FM_FAULTS
    input  wire  [        5:0] fault,
`endif
    input  wire                link_up,        // without it, what has come of a frame is dropped
    input  wire  [       47:0] address,        // of this port
    input  wire  [48*ENDS-1:0] peers,          // that of the peer of end 0 in the lowest bits
    input  wire  [       15:0] ethertype,
    input  wire  [ W*ENDS-1:0] s_axis_tdata,
    input  wire  [   ENDS-1:0] s_axis_tvalid,
    output wire  [   ENDS-1:0] s_axis_tready,
    input  wire  [   ENDS-1:0] s_axis_tlast,
    input  wire  [ 2*ENDS-1:0] s_axis_tuser,   // error, first
    output wire  [      W-1:0] m_axis_tdata,   // one for all
    output wire  [   ENDS-1:0] m_axis_tvalid,
    output wire                m_axis_tlast,
    output wire  [        1:0] m_axis_tuser,
    output wire  [      W-1:0] tx_axis_tdata,
    output wire  [    W/8-1:0] tx_axis_tkeep,
    output wire                tx_axis_tvalid,
    input  wire                tx_axis_tready,
    output wire                tx_axis_tlast,
    output wire                tx_axis_tuser,
    input  wire  [      W-1:0] rx_axis_tdata,
    input  wire  [    W/8-1:0] rx_axis_tkeep,
    input  wire                rx_axis_tvalid,
    input  wire                rx_axis_tlast,
    input  wire                rx_axis_tuser,
    output wire  [32*ENDS-1:0] sent_frames,
    output wire  [       31:0] frames,
    output wire  [       31:0] dropped_frames,
    output wire  [       31:0] bad_frames
);
  wire [W*ENDS-1:0] data;
  wire [W/8*ENDS-1:0] keep;
  wire [ENDS-1:0] valid, ready, last, user;
  genvar i;
  generate
    for (i = 0; i < ENDS; i = i + 1) begin : g_end
      fm_eth_encoder #(
          .W(W), .D(D), .JUMBO(JUMBO)
      ) encoder (
          .clk, .rst,
`ifdef FM_FAULTS
          .fault,
`endif
          .destination(peers[48*i+:48]), .source(address), .ethertype, .s_axis_tdata(s_axis_tdata[W*i+:W]),
          .s_axis_tvalid(s_axis_tvalid[i]), .s_axis_tready(s_axis_tready[i]), .s_axis_tlast(s_axis_tlast[i]),
          .s_axis_tuser(s_axis_tuser[2*i+:2]), .m_axis_tdata(data[W*i+:W]), .m_axis_tkeep(keep[W/8*i+:W/8]),
          .m_axis_tvalid(valid[i]), .m_axis_tready(ready[i]), .m_axis_tlast(last[i]), .m_axis_tuser(user[i]),
          .frames(sent_frames[32*i+:32])
      );
    end
    if (ENDS > 1) begin : g_arbiter
      fm_eth_arbiter #(
          .W(W), .ENDS(ENDS)
      ) arbiter (
          .clk, .rst,
`ifdef FM_FAULTS
          .fault,
`endif
          .s_axis_tdata(data), .s_axis_tkeep(keep), .s_axis_tvalid(valid), .s_axis_tready(ready), .s_axis_tlast(last),
          .s_axis_tuser(user), .m_axis_tdata(tx_axis_tdata), .m_axis_tkeep(tx_axis_tkeep),
          .m_axis_tvalid(tx_axis_tvalid), .m_axis_tready(tx_axis_tready), .m_axis_tlast(tx_axis_tlast),
          .m_axis_tuser(tx_axis_tuser)
      );
    end else begin : g_alone
      assign tx_axis_tdata = data;
      assign tx_axis_tkeep = keep;
      assign tx_axis_tvalid = valid;
      assign ready = tx_axis_tready;
      assign tx_axis_tlast = last;
      assign tx_axis_tuser = user;
    end
  endgenerate

  fm_eth_decoder #(
      .W(W), .ENDS(ENDS)
  ) decoder (
      .clk, .rst, .link_up,
`ifdef FM_FAULTS
      .fault,
`endif
      .address, .peers, .ethertype, .s_axis_tdata(rx_axis_tdata), .s_axis_tkeep(rx_axis_tkeep),
      .s_axis_tvalid(rx_axis_tvalid), .s_axis_tlast(rx_axis_tlast), .s_axis_tuser(rx_axis_tuser), .m_axis_tdata,
      .m_axis_tvalid, .m_axis_tlast, .m_axis_tuser, .frames, .dropped_frames, .bad_frames
  );
endmodule
`default_nettype wire
