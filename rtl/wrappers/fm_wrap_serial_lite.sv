// One end of a credit link over Intel's Serial Lite III Streaming in burst mode, a packet a burst. UNTESTED ON HARDWARE;
// written against "Serial Lite III Streaming Intel FPGA IP User Guide", UG-01126. Ports of the core have the core's names.
// Between two bursts GAP cycles without data are kept, as that document wants. The core reports errors by lane and not by
// burst: the next word is marked. Its receive side has to be in the same clock, as in the duplex core with one user clock.
`default_nettype none
module fm_wrap_serial_lite #(
    parameter integer LANES = 4,  // of 64 bits
    parameter integer GAP = 1
) (
    input  wire                clk,
    input  wire                rst,
`ifdef FM_FAULTS
    input  wire  [        5:0] fault,
`endif
    output logic               link_up,
    input  wire  [64*LANES-1:0] s_axis_tdata,
    input  wire                s_axis_tvalid,
    output wire                s_axis_tready,
    input  wire                s_axis_tlast,
    output logic [64*LANES-1:0] m_axis_tdata,
    output logic               m_axis_tvalid,
    output logic               m_axis_tlast,
    output logic [        1:0] m_axis_tuser,       // error, first
    // The core.
    output wire  [64*LANES-1:0] data_tx,
    output wire                valid_tx,
    output wire                start_of_burst_tx,
    output wire                end_of_burst_tx,
    output wire  [        7:0] sync_tx,
    input  wire                ready_tx,
    input  wire                link_up_tx,
    input  wire  [64*LANES-1:0] data_rx,
    input  wire                valid_rx,
    input  wire                start_of_burst_rx,
    input  wire                end_of_burst_rx,
    input  wire                link_up_rx,
    input  wire  [  LANES+4:0] error_rx
);
`ifndef FM_FAULTS
  wire [5:0] fault = 6'd0;
`endif
  localparam integer GW = $clog2(GAP + 2);
  logic [GW-1:0] gap;
  logic begins;
  wire is_open = gap == {GW{1'b0}} || fault == 6'd28;
  assign data_tx = s_axis_tdata;
  assign valid_tx = s_axis_tvalid && is_open;
  assign start_of_burst_tx = valid_tx && begins;
  assign end_of_burst_tx = valid_tx && s_axis_tlast;
  assign sync_tx = 8'd0;
  assign s_axis_tready = ready_tx && is_open;
  wire leaves = valid_tx && ready_tx;
  always_ff @(posedge clk) begin
    if (leaves) begins <= s_axis_tlast;
    if (leaves && s_axis_tlast) gap <= GW'(GAP);
    else if (!is_open) gap <= gap - 1'b1;
    if (rst) begin
      begins <= 1'b1;
      gap <= {GW{1'b0}};
    end
  end

  logic in_burst, had_error;
  wire takes = valid_rx && (start_of_burst_rx || in_burst);
  wire error = |error_rx || had_error;
  always_ff @(posedge clk) begin
    link_up <= link_up_tx && link_up_rx;
    m_axis_tdata <= data_rx;
    m_axis_tvalid <= takes;
    m_axis_tlast <= end_of_burst_rx;
    m_axis_tuser <= {error && fault != 6'd29, start_of_burst_rx};
    had_error <= error && !takes;
    if (takes) in_burst <= !end_of_burst_rx;
    if (rst || !link_up_rx) begin
      link_up <= 1'b0;
      m_axis_tvalid <= 1'b0;
      in_burst <= 1'b0;
      had_error <= 1'b0;
    end
  end
endmodule
`default_nettype wire
