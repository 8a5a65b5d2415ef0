// For benches: a board with two ends of credit links behind one Ethernet port, and two boards with one end each. Ends 0 and 1
// are those of the first board; 2 and 3 their peers. Port 0 is that of the first board.
`default_nettype none
module fm_test_network #(
    parameter integer W = 256,
    parameter integer D = 8,
    parameter integer RX = 64,
    parameter integer KEEPALIVE = 200
) (
    input  wire              clk,
    input  wire              rst,
    input  wire  [      5:0] fault,
    input  wire  [      2:0] link_up,
    input  wire  [  4*W-1:0] s_axis_tdata,
    input  wire  [4*W/8-1:0] s_axis_tkeep,
    input  wire  [      3:0] s_axis_tlast,
    input  wire  [      3:0] s_axis_tvalid,
    output wire  [      3:0] s_axis_tready,
    output wire  [  4*W-1:0] m_axis_tdata,
    output wire  [4*W/8-1:0] m_axis_tkeep,
    output wire  [      3:0] m_axis_tlast,
    output wire  [      3:0] m_axis_tvalid,
    input  wire  [      3:0] m_axis_tready,
    output wire  [  3*W-1:0] tx_axis_tdata,
    output wire  [3*W/8-1:0] tx_axis_tkeep,
    output wire  [      2:0] tx_axis_tvalid,
    input  wire  [      2:0] tx_axis_tready,
    output wire  [      2:0] tx_axis_tlast,
    input  wire  [  3*W-1:0] rx_axis_tdata,
    input  wire  [3*W/8-1:0] rx_axis_tkeep,
    input  wire  [      2:0] rx_axis_tvalid,
    input  wire  [      2:0] rx_axis_tlast,
    input  wire  [      2:0] rx_axis_tuser,
    output wire  [      3:0] up,
    output wire  [   4*8-1:0] epoch,
    output wire  [  4*32-1:0] words_in,
    output wire  [  4*32-1:0] words_out,
    output wire  [  4*32-1:0] lost_flits,
    output wire  [  4*32-1:0] cut_packets,
    output wire  [  3*32-1:0] dropped_frames
);
  localparam integer B = W / 8;
  localparam logic [47:0] HUB = 48'h02_00_00_00_00_00;
  wire [4*W-1:0] flit;
  wire [3:0] flit_valid, flit_ready, flit_last, from_valid;
  wire [7:0] flit_user;
  wire [3*W-1:0] from_port;
  wire [5:0] from_user;

  genvar i;
  generate
    for (i = 0; i < 4; i = i + 1) begin : g_end
      localparam integer PORT = i < 2 ? 0 : i - 1;
      fm_credit_link #(
          .W(W), .D(D), .RX(RX), .KEEPALIVE(KEEPALIVE), .SYNC_INTERVAL(64), .RX_COMMIT(1), .RESYNC_ERRORS(16),
          .RESYNC_WINDOW(256)
      ) link_end (
          .clk, .rst, .link_up(link_up[PORT]), .s_axis_tdata(s_axis_tdata[W*i+:W]), .s_axis_tkeep(s_axis_tkeep[B*i+:B]),
          .s_axis_tlast(s_axis_tlast[i]), .s_axis_tvalid(s_axis_tvalid[i]), .s_axis_tready(s_axis_tready[i]),
          .m_axis_tdata(m_axis_tdata[W*i+:W]), .m_axis_tkeep(m_axis_tkeep[B*i+:B]), .m_axis_tlast(m_axis_tlast[i]),
          .m_axis_tvalid(m_axis_tvalid[i]), .m_axis_tready(m_axis_tready[i]), .tx_axis_tdata(flit[W*i+:W]),
          .tx_axis_tvalid(flit_valid[i]), .tx_axis_tready(flit_ready[i]), .tx_axis_tlast(flit_last[i]),
          .tx_axis_tuser(flit_user[2*i+:2]), .rx_axis_tdata(from_port[W*PORT+:W]), .rx_axis_tvalid(from_valid[i]),
          .rx_axis_tuser(from_user[2*PORT+:2]), .up(up[i]), .epoch(epoch[8*i+:8]), .words_in(words_in[32*i+:32]),
          .words_out(words_out[32*i+:32]), .lost_flits(lost_flits[32*i+:32]), .cut_packets(cut_packets[32*i+:32]),
          .bad_headers(), .bad_payloads(), .stray_flits(), .stalled_cycles(), .error_code()
      );
    end
    for (i = 0; i < 3; i = i + 1) begin : g_port
      localparam integer ENDS = i == 0 ? 2 : 1;
      localparam integer FIRST = i == 0 ? 0 : i + 1;
      fm_eth_port #(
          .W(W), .D(D), .ENDS(ENDS)
      ) eth (
          .clk, .rst, .fault, .link_up(link_up[i]), .address(HUB + 48'(i)),
          .peers(i == 0 ? {ENDS{HUB}} + (48 * ENDS)'({48'd2, 48'd1}) : {ENDS{HUB}}), .ethertype(16'h88B5),
          .s_axis_tdata(flit[W*FIRST+:W*ENDS]), .s_axis_tvalid(flit_valid[FIRST+:ENDS]),
          .s_axis_tready(flit_ready[FIRST+:ENDS]), .s_axis_tlast(flit_last[FIRST+:ENDS]),
          .s_axis_tuser(flit_user[2*FIRST+:2*ENDS]), .m_axis_tdata(from_port[W*i+:W]),
          .m_axis_tvalid(from_valid[FIRST+:ENDS]), .m_axis_tlast(), .m_axis_tuser(from_user[2*i+:2]),
          .tx_axis_tdata(tx_axis_tdata[W*i+:W]), .tx_axis_tkeep(tx_axis_tkeep[B*i+:B]),
          .tx_axis_tvalid(tx_axis_tvalid[i]), .tx_axis_tready(tx_axis_tready[i]), .tx_axis_tlast(tx_axis_tlast[i]),
          .tx_axis_tuser(), .rx_axis_tdata(rx_axis_tdata[W*i+:W]), .rx_axis_tkeep(rx_axis_tkeep[B*i+:B]),
          .rx_axis_tvalid(rx_axis_tvalid[i]), .rx_axis_tlast(rx_axis_tlast[i]), .rx_axis_tuser(rx_axis_tuser[i]),
          .sent_frames(), .frames(), .dropped_frames(dropped_frames[32*i+:32]), .bad_frames()
      );
    end
  endgenerate
endmodule
`default_nettype wire
