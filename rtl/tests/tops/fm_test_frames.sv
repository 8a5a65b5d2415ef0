// For benches: an encoder and a decoder for two peers side by side.
`default_nettype none
module fm_test_frames #(
    parameter integer W = 256
) (
    input  wire            clk,
    input  wire            rst,
    input  wire  [    5:0] fault,
    input  wire  [   47:0] address,
    input  wire  [   95:0] peers,
    input  wire  [   15:0] ethertype,
    input  wire  [  W-1:0] s_axis_tdata,
    input  wire            s_axis_tvalid,
    output wire            s_axis_tready,
    input  wire            s_axis_tlast,
    input  wire  [    1:0] s_axis_tuser,
    output wire  [  W-1:0] tx_axis_tdata,
    output wire  [W/8-1:0] tx_axis_tkeep,
    output wire            tx_axis_tvalid,
    input  wire            tx_axis_tready,
    output wire            tx_axis_tlast,
    output wire            tx_axis_tuser,
    output wire  [   31:0] sent_frames,
    input  wire  [  W-1:0] rx_axis_tdata,
    input  wire  [W/8-1:0] rx_axis_tkeep,
    input  wire            rx_axis_tvalid,
    input  wire            rx_axis_tlast,
    input  wire            rx_axis_tuser,
    output wire  [  W-1:0] m_axis_tdata,
    output wire  [    1:0] m_axis_tvalid,
    output wire            m_axis_tlast,
    output wire  [    1:0] m_axis_tuser,
    output wire  [   31:0] frames,
    output wire  [   31:0] dropped_frames,
    output wire  [   31:0] bad_frames
);
  fm_eth_encoder #(
      .W(W), .D(8)
  ) encoder (
      .clk, .rst, .fault, .destination(peers[47:0]), .source(address), .ethertype, .s_axis_tdata, .s_axis_tvalid,
      .s_axis_tready, .s_axis_tlast, .s_axis_tuser, .m_axis_tdata(tx_axis_tdata), .m_axis_tkeep(tx_axis_tkeep),
      .m_axis_tvalid(tx_axis_tvalid), .m_axis_tready(tx_axis_tready), .m_axis_tlast(tx_axis_tlast),
      .m_axis_tuser(tx_axis_tuser), .frames(sent_frames)
  );
  fm_eth_decoder #(
      .W(W), .ENDS(2)
  ) decoder (
      .clk, .rst, .fault, .link_up(1'b1), .address, .peers, .ethertype, .s_axis_tdata(rx_axis_tdata),
      .s_axis_tkeep(rx_axis_tkeep),
      .s_axis_tvalid(rx_axis_tvalid), .s_axis_tlast(rx_axis_tlast), .s_axis_tuser(rx_axis_tuser), .m_axis_tdata,
      .m_axis_tvalid, .m_axis_tlast, .m_axis_tuser, .frames, .dropped_frames, .bad_frames
  );
endmodule
`default_nettype wire
