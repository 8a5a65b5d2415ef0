// Two ends of a credit link back to back, as they would be on two boards with a cable of LATENCY cycles between them.
`default_nettype none
module loopback #(
    parameter integer W = 128,
    parameter integer D = 32,
    parameter integer LATENCY = 50
) (
    input  wire              clk,
    input  wire              rst,
    input  wire  [  2*W-1:0] s_axis_tdata,  // that of board 0 in the lowest bits
    input  wire  [2*W/8-1:0] s_axis_tkeep,
    input  wire  [      1:0] s_axis_tlast,
    input  wire  [      1:0] s_axis_tvalid,
    output wire  [      1:0] s_axis_tready,
    output wire  [  2*W-1:0] m_axis_tdata,
    output wire  [2*W/8-1:0] m_axis_tkeep,
    output wire  [      1:0] m_axis_tlast,
    output wire  [      1:0] m_axis_tvalid,
    input  wire  [      1:0] m_axis_tready,
    output wire  [      1:0] up,
    output wire  [     63:0] lost_flits
);
  localparam integer B = W / 8;
  wire [2*W-1:0] tx_data;
  wire [1:0] tx_valid;
  wire [3:0] tx_user;
  // A place for each cycle that a flit is on the cable: user, valid, data.
  logic [W+2:0] cable[0:1][0:LATENCY-1];

  genvar i;
  generate
    for (i = 0; i < 2; i = i + 1) begin : g_board
      wire [W+2:0] from_cable = cable[1-i][LATENCY-1];
      /* verilator lint_off PINCONNECTEMPTY */
      fm_credit_link #(
          .W(W), .D(D)
      ) link_end (
          .clk, .rst, .link_up(1'b1), .s_axis_tdata(s_axis_tdata[W*i+:W]), .s_axis_tkeep(s_axis_tkeep[B*i+:B]),
          .s_axis_tlast(s_axis_tlast[i]), .s_axis_tvalid(s_axis_tvalid[i]), .s_axis_tready(s_axis_tready[i]),
          .m_axis_tdata(m_axis_tdata[W*i+:W]), .m_axis_tkeep(m_axis_tkeep[B*i+:B]), .m_axis_tlast(m_axis_tlast[i]),
          .m_axis_tvalid(m_axis_tvalid[i]), .m_axis_tready(m_axis_tready[i]), .tx_axis_tdata(tx_data[W*i+:W]),
          .tx_axis_tvalid(tx_valid[i]), .tx_axis_tready(1'b1), .tx_axis_tlast(), .tx_axis_tuser(tx_user[2*i+:2]),
          .rx_axis_tdata(from_cable[W-1:0]), .rx_axis_tvalid(from_cable[W]), .rx_axis_tuser(from_cable[W+2:W+1]),
          .up(up[i]), .epoch(), .words_in(), .words_out(), .lost_flits(lost_flits[32*i+:32]), .cut_packets(),
          .bad_headers(), .bad_payloads(), .stray_flits(), .stalled_cycles(), .error_code()
      );
      /* verilator lint_on PINCONNECTEMPTY */
      integer k;
      always_ff @(posedge clk) begin
        cable[i][0] <= {tx_user[2*i+:2], tx_valid[i] && !rst, tx_data[W*i+:W]};
        for (k = 1; k < LATENCY; k = k + 1) cable[i][k] <= rst ? {(W + 3) {1'b0}} : cable[i][k-1];
      end
    end
  endgenerate
endmodule
`default_nettype wire
