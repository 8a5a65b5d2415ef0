// One end of a credit link over AMD's Aurora 64B/66B with its framing interface, a packet a frame. UNTESTED ON HARDWARE;
// written against "Aurora 64B/66B LogiCORE IP Product Guide", PG074. Ports of the core have the core's names. Both cores of a
// channel need the same order of bytes and, with CRC_CHECKED = 1, the option CRC: its verdict comes with the last word of
// a frame. A soft error comes with no word in particular: the next one is marked.
`default_nettype none
module fm_wrap_aurora #(
    parameter integer W = 256,          // 64 bits a lane
    parameter integer CRC_CHECKED = 0
) (
    input  wire            clk,            // user_clk
    input  wire            rst,
`ifdef FM_FAULTS
    input  wire  [    5:0] fault,
`endif
    output logic           link_up,
    input  wire  [  W-1:0] s_axis_tdata,
    input  wire            s_axis_tvalid,
    output wire            s_axis_tready,
    input  wire            s_axis_tlast,
    output logic [  W-1:0] m_axis_tdata,
    output logic           m_axis_tvalid,
    output logic           m_axis_tlast,
    output logic [    1:0] m_axis_tuser,   // error, first
    // The core.
    output wire  [  W-1:0] s_axi_tx_tdata,
    output wire  [W/8-1:0] s_axi_tx_tkeep,
    output wire            s_axi_tx_tlast,
    output wire            s_axi_tx_tvalid,
    input  wire            s_axi_tx_tready,
    input  wire  [  W-1:0] m_axi_rx_tdata,
    input  wire  [W/8-1:0] m_axi_rx_tkeep,
    input  wire            m_axi_rx_tlast,
    input  wire            m_axi_rx_tvalid,
    input  wire            channel_up,
    input  wire            hard_err,
    input  wire            soft_err,
    input  wire            crc_valid,
    input  wire            crc_pass_fail_n
);
`ifndef FM_FAULTS
  wire [5:0] fault = 6'd0;
`endif
  assign s_axi_tx_tdata = s_axis_tdata;
  assign s_axi_tx_tkeep = {(W / 8) {1'b1}};
  assign s_axi_tx_tlast = s_axis_tlast;
  assign s_axi_tx_tvalid = s_axis_tvalid;
  assign s_axis_tready = s_axi_tx_tready;

  wire is_there = channel_up && !hard_err;
  wire has_failed = CRC_CHECKED != 0 && m_axi_rx_tlast && !(crc_valid && crc_pass_fail_n) && fault != 6'd25;
  logic begins, had_error;
  wire error = soft_err || had_error;
  always_ff @(posedge clk) begin
    link_up <= is_there;
    m_axis_tdata <= m_axi_rx_tdata;
    m_axis_tvalid <= m_axi_rx_tvalid;
    m_axis_tlast <= m_axi_rx_tlast;
    m_axis_tuser <= {error || has_failed || !(&m_axi_rx_tkeep), begins};
    had_error <= error && !m_axi_rx_tvalid && fault != 6'd26;
    if (m_axi_rx_tvalid) begins <= m_axi_rx_tlast;
    if (rst || !is_there) begin
      link_up <= 1'b0;
      m_axis_tvalid <= 1'b0;
      had_error <= 1'b0;
      begins <= 1'b1;
    end
  end
endmodule
`default_nettype wire
