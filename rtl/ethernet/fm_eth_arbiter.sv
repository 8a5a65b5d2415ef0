// Several streams of frames onto one port, a whole frame at a time, interleaved. Where the frames come without gaps, they
// leave without.
`default_nettype none
module fm_eth_arbiter #(
    parameter integer W = 256,
    parameter integer ENDS = 2
) (
    input  wire                  clk,
    input  wire                  rst,
`ifdef FM_FAULTS
    input  wire  [          5:0] fault,
`endif
    input  wire  [   W*ENDS-1:0] s_axis_tdata,  // that of stream 0 in the lowest bits
    input  wire  [W/8*ENDS-1:0]  s_axis_tkeep,
    input  wire  [     ENDS-1:0] s_axis_tvalid,
    output wire  [     ENDS-1:0] s_axis_tready,
    input  wire  [     ENDS-1:0] s_axis_tlast,
    input  wire  [     ENDS-1:0] s_axis_tuser,
    output logic [        W-1:0] m_axis_tdata,
    output logic [      W/8-1:0] m_axis_tkeep,
    output logic                 m_axis_tvalid,
    input  wire                  m_axis_tready,
    output logic                 m_axis_tlast,
    output logic                 m_axis_tuser
);
`ifndef FM_FAULTS
  wire [5:0] fault = 6'd0;
`endif
  logic in_frame;
  logic [ENDS-1:0] granted;  // the stream of the frame that leaves, or of the last one

  // The next stream behind the last one that has something: all streams twice in a row, from above the last one.
  logic [ENDS-1:0] next;
  always_comb begin
    integer i;
    logic passed, found;
    passed = fault == 6'd13;
    found = 1'b0;
    next = {ENDS{1'b0}};
    for (i = 0; i < 2 * ENDS; i = i + 1) begin
      if (passed && !found && s_axis_tvalid[i%ENDS]) begin
        next[i%ENDS] = 1'b1;
        found = 1'b1;
      end
      if (granted[i%ENDS]) passed = 1'b1;
    end
  end
  wire may_send = !m_axis_tvalid || m_axis_tready;
  wire [ENDS-1:0] chosen = in_frame && fault != 6'd12 ? granted : next;
  assign s_axis_tready = may_send ? chosen : {ENDS{1'b0}};
  wire takes = may_send && |(chosen & s_axis_tvalid);

  logic [W-1:0] data;
  logic [W/8-1:0] keep;
  always_comb begin
    integer i;
    data = {W{1'b0}};
    keep = {(W / 8) {1'b0}};
    for (i = 0; i < ENDS; i = i + 1) begin
      if (chosen[i]) data = s_axis_tdata[W*i+:W];
      if (chosen[i]) keep = s_axis_tkeep[W/8*i+:W/8];
    end
  end
  wire last = |(chosen & s_axis_tlast);

  always_ff @(posedge clk) begin
    if (may_send) begin
      m_axis_tvalid <= takes;
      m_axis_tdata <= data;
      m_axis_tkeep <= keep;
      m_axis_tlast <= last;
      m_axis_tuser <= |(chosen & s_axis_tuser);
    end
    if (takes) begin
      in_frame <= !last;
      granted <= chosen;
    end
    if (rst) begin
      in_frame <= 1'b0;
      granted <= {{(ENDS - 1) {1'b0}}, 1'b1} << (ENDS - 1);  // stream 0 is next
      m_axis_tvalid <= 1'b0;
    end
  end
endmodule
`default_nettype wire
