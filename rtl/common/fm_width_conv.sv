// Words of SB bytes become words of MB bytes, packed without gaps inside a frame: 4 cells of 40 bytes are 5 flits of 32. The
// same module goes both ways. The bytes of the last word of a frame, one at least, are said by `tkeep`, from the lowest
// on. The next frame comes in when the one before has left: one cycle is lost between two.
`default_nettype none
module fm_width_conv #(
    parameter integer SB = 40,
    parameter integer MB = 32
) (
    input  wire             clk,
    input  wire             rst,
`ifdef FM_FAULTS
    input  wire  [     5:0] fault,
`endif
    input  wire  [8*SB-1:0] s_axis_tdata,
    input  wire  [  SB-1:0] s_axis_tkeep,
    input  wire             s_axis_tlast,
    input  wire             s_axis_tvalid,
    output wire             s_axis_tready,
    output wire  [8*MB-1:0] m_axis_tdata,
    output wire  [  MB-1:0] m_axis_tkeep,
    output wire             m_axis_tlast,
    output wire             m_axis_tvalid,
    input  wire             m_axis_tready
);
  function automatic integer common_divisor(input integer a, input integer b);
    integer i;
    begin
      common_divisor = 1;
      for (i = 2; i <= a; i = i + 1) if (a % i == 0 && b % i == 0) common_divisor = i;
    end
  endfunction
  // Words lie at multiples of so many bytes; what is stored before a word is taken is at most WAITING.
  localparam integer STEP = common_divisor(SB, MB);
  localparam integer WAITING = 2 * MB - STEP;
  localparam integer STORED = WAITING + SB;
  localparam integer CW = $clog2(STORED + 1);
  localparam integer EVEN = common_divisor(STEP, 1024);  // the power of two in it: lower bits of an offset are zero
`ifndef FM_FAULTS
  wire [5:0] fault = 6'd0;
`endif

  logic [8*STORED-1:0] stored;  // zero behind the last byte
  logic [CW-1:0] count;
  logic closes;

  assign s_axis_tready = (!closes || fault == 6'd20) && count <= CW'(WAITING);
  assign m_axis_tvalid = closes || count >= CW'(MB);
  assign m_axis_tlast = closes && (fault == 6'd21 ? count < CW'(MB) : count <= CW'(MB));
  assign m_axis_tdata = stored[8*MB-1:0];
  wire takes = s_axis_tvalid && s_axis_tready;
  wire leaves = m_axis_tvalid && m_axis_tready;
  wire [CW-1:0] left = !leaves ? count : count > CW'(MB) ? count - CW'(MB) : {CW{1'b0}};

  logic [8*SB-1:0] word;
  logic [CW-1:0] bytes;
  logic [MB-1:0] keep;
  always_comb begin
    integer i;
    word = s_axis_tdata;
    bytes = CW'(SB);
    if (s_axis_tlast) begin
      bytes = {CW{1'b0}};
      for (i = 0; i < SB; i = i + 1) begin
        bytes = bytes + {{(CW - 1) {1'b0}}, s_axis_tkeep[i]};
        if (!s_axis_tkeep[i]) word[8*i+:8] = 8'd0;
      end
    end
    for (i = 0; i < MB; i = i + 1) keep[i] = CW'(i) < count;
  end
  assign m_axis_tkeep = fault == 6'd18 ? {MB{1'b1}} : keep;

  wire [CW-1:0] offset = (fault == 6'd19 ? count : left) & ~CW'(EVEN - 1);
  wire [8*STORED-1:0] behind = {{(8 * WAITING) {1'b0}}, word} << {offset, 3'd0};
  wire [8*STORED-1:0] stored_now = (leaves ? stored >> (8 * MB) : stored) | (takes ? behind : {(8 * STORED) {1'b0}});

  always_ff @(posedge clk) begin
    stored <= stored_now;
    count <= left + (takes ? bytes : {CW{1'b0}});
    closes <= takes ? s_axis_tlast : closes && !(leaves && m_axis_tlast);
    if (rst) begin
      stored <= {(8 * STORED) {1'b0}};
      count <= {CW{1'b0}};
      closes <= 1'b0;
    end
  end
endmodule
`default_nettype wire
