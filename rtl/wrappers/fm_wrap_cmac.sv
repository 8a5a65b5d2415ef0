// Ends of credit links over AMD's 100G Ethernet MAC (CMAC) with its AXI4-Stream interface. UNTESTED ON HARDWARE; written
// against "UltraScale+ Devices Integrated 100G Ethernet Subsystem Product Guide", PG203. Ports of the core have the
// core's names. Set it to insert and to delete the FCS, and clock its receive side with gt_txusrclk2, as this module has
// one clock. Frames leave without gaps, so that tx_unfout never comes; it is kept until reset, to be seen if it does.
`default_nettype none
module fm_wrap_cmac #(
    parameter integer D = 16,  // data flits of a packet at most; 22 with payloads of 1500 bytes
    parameter integer ENDS = 1,
    parameter integer JUMBO = 0
) (
    input  wire                clk,  // gt_txusrclk2
    input  wire                rst,
`ifdef FM_FAULTS
    input  wire  [        5:0] fault,
`endif
    input  wire  [       47:0] address,
    input  wire  [48*ENDS-1:0] peers,
    input  wire  [       15:0] ethertype,
    output logic               link_up,
    input  wire  [512*ENDS-1:0] s_axis_tdata,
    input  wire  [   ENDS-1:0] s_axis_tvalid,
    output wire  [   ENDS-1:0] s_axis_tready,
    input  wire  [   ENDS-1:0] s_axis_tlast,
    input  wire  [ 2*ENDS-1:0] s_axis_tuser,
    output wire  [      511:0] m_axis_tdata,
    output wire  [   ENDS-1:0] m_axis_tvalid,
    output wire                m_axis_tlast,
    output wire  [        1:0] m_axis_tuser,
    output wire  [32*ENDS-1:0] sent_frames,
    output wire  [       31:0] frames,
    output wire  [       31:0] dropped_frames,
    output wire  [       31:0] bad_frames,
    output logic               has_underrun,
    // The core.
    output wire  [      511:0] tx_axis_tdata,
    output wire  [       63:0] tx_axis_tkeep,
    output wire                tx_axis_tvalid,
    input  wire                tx_axis_tready,
    output wire                tx_axis_tlast,
    output wire                tx_axis_tuser,
    input  wire                tx_ovfout,
    input  wire                tx_unfout,
    input  wire  [      511:0] rx_axis_tdata,
    input  wire  [       63:0] rx_axis_tkeep,
    input  wire                rx_axis_tvalid,
    input  wire                rx_axis_tlast,
    input  wire                rx_axis_tuser,
    input  wire                stat_rx_aligned
);
`ifndef FM_FAULTS
  wire [5:0] fault = 6'd0;
`endif
  always_ff @(posedge clk) begin
    link_up <= stat_rx_aligned || fault == 6'd22;
    has_underrun <= has_underrun || tx_unfout || tx_ovfout;
    if (rst) begin
      link_up <= 1'b0;
      has_underrun <= 1'b0;
    end
  end
  fm_eth_port #(
      .W(512), .D(D), .ENDS(ENDS), .JUMBO(JUMBO)
  ) eth (
      .clk, .rst,
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
