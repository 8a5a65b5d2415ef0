// A stream from one clock to another. Each side counts in its own clock and sees the other's count in Gray code, of which
// two neighbours differ in one bit: a count that is just changing is read as it was or as it will be. Tell the tools that
// the path between the clocks is short: set_max_delay -datapath_only, or set_net_delay and set_max_skew, of one period of
// the faster clock from `written` to `written_seen_0` and from `taken` to `taken_seen_0`.
`default_nettype none
module fm_async_fifo #(
    parameter integer W = 256,
    parameter integer USER = 1,        // bits of tuser
    parameter integer PLACES_LOG2 = 5  // at least 3 for the full rate
) (
    input  wire            rst,           // of any clock
`ifdef FM_FAULTS
    input  wire  [    5:0] fault,
    // Bits of the other side's count that this side reads as they were, where they just change.
    input  wire  [PLACES_LOG2:0] s_late,
    input  wire  [PLACES_LOG2:0] m_late,
`endif
    input  wire            s_clk,
    input  wire  [  W-1:0] s_axis_tdata,
    input  wire  [W/8-1:0] s_axis_tkeep,
    input  wire            s_axis_tlast,
    input  wire  [USER-1:0] s_axis_tuser,
    input  wire            s_axis_tvalid,
    output wire            s_axis_tready,
    input  wire            m_clk,
    output logic [  W-1:0] m_axis_tdata,
    output logic [W/8-1:0] m_axis_tkeep,
    output logic           m_axis_tlast,
    output logic [USER-1:0] m_axis_tuser,
    output logic           m_axis_tvalid,
    input  wire            m_axis_tready
);
  localparam integer A = PLACES_LOG2;
  generate
    if (A < 2) begin : g_too_small
      fm_async_fifo_needs_PLACES_LOG2_of_2 refused ();
    end
  endgenerate
`ifndef FM_FAULTS
  wire [5:0] fault = 6'd0;
`endif

  function automatic [A:0] gray(input [A:0] count);
    gray = count ^ (count >> 1);
  endfunction

  logic [USER+W+W/8:0] places[0:(1<<A)-1];
  logic [A:0] write, written, read, taken;  // counts, and the same in Gray code
  logic [A:0] taken_seen_0, taken_seen_1, written_seen_0, written_seen_1;

  // The reset reaches each side at once and leaves it with its clock.
  logic s_reset_0, s_reset, m_reset_0, m_reset, is_open;
  always_ff @(posedge s_clk or posedge rst) begin
    if (rst) {s_reset, s_reset_0} <= 2'b11;
    else {s_reset, s_reset_0} <= {s_reset_0, 1'b0};
  end
  always_ff @(posedge m_clk or posedge rst) begin
    if (rst) {m_reset, m_reset_0} <= 2'b11;
    else {m_reset, m_reset_0} <= {m_reset_0, 1'b0};
  end

  wire [A:0] written_read, taken_read;
`ifdef FM_FAULTS
  logic [A:0] written_before, taken_before;
  always_ff @(posedge s_clk) written_before <= written;
  always_ff @(posedge m_clk) taken_before <= taken;
  assign written_read = (written & ~m_late) | (written_before & m_late);
  assign taken_read = (taken & ~s_late) | (taken_before & s_late);
`else
  assign written_read = written;
  assign taken_read = taken;
`endif

  // The side that writes.
  localparam logic [A:0] ROUND = {2'b11, {(A - 1) {1'b0}}};  // a round ahead, in Gray code
  wire [A:0] places_ahead = fault == 6'd15 ? gray(write - 1'b1) : written;
  wire is_full = places_ahead == (taken_seen_1 ^ (fault == 6'd14 ? {1'b1, {A{1'b0}}} : ROUND));
  assign s_axis_tready = is_open && !is_full;
  wire accepts = s_axis_tvalid && s_axis_tready;
  wire [A:0] write_now = write + {{A{1'b0}}, accepts};
  always_ff @(posedge s_clk)
    if (accepts) places[write[A-1:0]] <= {s_axis_tuser, s_axis_tlast, s_axis_tkeep, s_axis_tdata};
  always_ff @(posedge s_clk or posedge s_reset) begin
    if (s_reset) begin
      write <= {(A + 1) {1'b0}};
      written <= {(A + 1) {1'b0}};
      taken_seen_0 <= {(A + 1) {1'b0}};
      taken_seen_1 <= {(A + 1) {1'b0}};
      is_open <= 1'b0;
    end else begin
      is_open <= 1'b1;
      write <= write_now;
      written <= gray(write_now);
      taken_seen_0 <= taken_read;
      taken_seen_1 <= taken_seen_0;
    end
  end

  // The side that reads.
  wire is_empty = taken == written_seen_1;
  wire fetches = !is_empty && (!m_axis_tvalid || m_axis_tready);
  wire [A:0] read_now = read + {{A{1'b0}}, fetches};
  wire [A-1:0] place = fault == 6'd16 ? read_now[A-1:0] : read[A-1:0];
  always_ff @(posedge m_clk)
    if (fetches) {m_axis_tuser, m_axis_tlast, m_axis_tkeep, m_axis_tdata} <= places[place];
  always_ff @(posedge m_clk or posedge m_reset) begin
    if (m_reset) begin
      read <= {(A + 1) {1'b0}};
      taken <= {(A + 1) {1'b0}};
      written_seen_0 <= {(A + 1) {1'b0}};
      written_seen_1 <= {(A + 1) {1'b0}};
      m_axis_tvalid <= 1'b0;
    end else begin
      read <= read_now;
      taken <= gray(read_now);
      written_seen_0 <= written_read;
      written_seen_1 <= written_seen_0;
      m_axis_tvalid <= fetches || (m_axis_tvalid && !(m_axis_tready && fault != 6'd17));
    end
  end
endmodule
`default_nettype wire
