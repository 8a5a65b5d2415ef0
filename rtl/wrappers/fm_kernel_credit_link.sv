// One end of a credit link as a kernel of Vitis that runs by itself: streams only, with the names of ports that package_xo
// wants. UNTESTED ON HARDWARE; written against "Vitis Unified Software Platform Documentation: Application Acceleration
// Development", UG1393, RTL kernels. `tx` and `rx` go to a kernel of the network whose frames are those of the stream. There
// are no counters to read; `rx` is always ready.
`default_nettype none
module fm_kernel_credit_link #(
    parameter integer W = 512,
    parameter integer D = 16,
    parameter integer RX = 512,
    parameter integer KEEPALIVE = 4096,
    parameter integer SYNC_INTERVAL = 256
) (
    input  wire            ap_clk,
    input  wire            ap_rst_n,
    input  wire  [  W-1:0] s_axis_tdata,
    input  wire  [W/8-1:0] s_axis_tkeep,
    input  wire            s_axis_tlast,
    input  wire            s_axis_tvalid,
    output wire            s_axis_tready,
    output wire  [  W-1:0] m_axis_tdata,
    output wire  [W/8-1:0] m_axis_tkeep,
    output wire            m_axis_tlast,
    output wire            m_axis_tvalid,
    input  wire            m_axis_tready,
    output wire  [  W-1:0] tx_axis_tdata,
    output wire  [W/8-1:0] tx_axis_tkeep,
    output wire            tx_axis_tlast,
    output wire            tx_axis_tvalid,
    input  wire            tx_axis_tready,
    input  wire  [  W-1:0] rx_axis_tdata,
    input  wire  [W/8-1:0] rx_axis_tkeep,
    input  wire            rx_axis_tlast,
    input  wire            rx_axis_tvalid,
    output wire            rx_axis_tready
);
  logic rst, begins;
  always_ff @(posedge ap_clk) begin
    rst <= !ap_rst_n;
    if (rx_axis_tvalid) begins <= rx_axis_tlast;
    if (rst) begins <= 1'b1;
  end
  assign tx_axis_tkeep = {(W / 8) {1'b1}};
  assign rx_axis_tready = 1'b1;
  /* verilator lint_off PINCONNECTEMPTY */
  fm_credit_link #(
      .W(W), .D(D), .RX(RX), .KEEPALIVE(KEEPALIVE), .SYNC_INTERVAL(SYNC_INTERVAL), .RX_COMMIT(1)
  ) link_end (
      .clk(ap_clk), .rst, .link_up(1'b1), .s_axis_tdata, .s_axis_tkeep, .s_axis_tlast, .s_axis_tvalid, .s_axis_tready,
      .m_axis_tdata, .m_axis_tkeep, .m_axis_tlast, .m_axis_tvalid, .m_axis_tready, .tx_axis_tdata, .tx_axis_tvalid,
      .tx_axis_tready, .tx_axis_tlast, .tx_axis_tuser(), .rx_axis_tdata, .rx_axis_tvalid,
      .rx_axis_tuser({!(&rx_axis_tkeep), begins}), .up(), .epoch(), .words_in(), .words_out(), .lost_flits(),
      .cut_packets(), .bad_headers(), .bad_payloads(), .stray_flits(), .stalled_cycles(), .error_code()
  );
  /* verilator lint_on PINCONNECTEMPTY */
endmodule
`default_nettype wire
