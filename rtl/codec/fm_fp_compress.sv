// Lossless compression as docs/codec.md has it, in stream mode: a word of N cells of C channels of 32 bits a cycle in, at most a
// flit of W bits a cycle out. Whether a block is raw is decided from the one before, so that nothing waits for its end.
// `cfg_cells` says how many cells a frame has, a multiple of N; rows have COLUMNS, a multiple of N of at least 4 N.
`default_nettype none
module fm_fp_compress #(
    parameter integer W = 256,
    parameter integer C = 10,
    parameter integer N = 1,
    parameter integer PLANE = 1,     // 0: predictor 1d, 1: 2d
    parameter integer FLOATS = 1,    // 0: integers, which are not mapped
    parameter integer COLUMNS = 720
) (
    input  wire               clk,
    input  wire               rst,
`ifdef FM_FAULTS
    input  wire  [       3:0] fault,
`endif
    input  wire  [      31:0] cfg_cells,
    input  wire  [32*C*N-1:0] s_axis_tdata,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    output wire  [     W-1:0] m_axis_tdata,
    output wire               m_axis_tlast,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready
);
  localparam integer RAW = 32 * C * N;        // bits of a word
  localparam integer CODED = 35 * C * N;      // at most
  localparam integer LB = $clog2(CODED + W + 33) + 1;
  localparam integer SB = $clog2(256 * 35 * C + W + 33) + 1;  // of a block's bits
  localparam integer STEPS = $clog2(C) + 1;  // of fm_fp_pack
  localparam integer ROW = COLUMNS / N;
  localparam integer RB = $clog2(ROW);
  localparam integer SW = 14;                 // of what goes beside a word


`ifndef FM_FAULTS
  wire [3:0] fault = 4'd0;
`endif
  wire en;
  assign s_axis_tready = en;

  // Where a word stands in its frame and its block.
  logic [31:0] left;  // cells of the frame, 0 before its first word
  logic [7:0] done_cells;  // cells of the block
  wire is_first = left == 32'd0;
  wire [31:0] here = is_first ? cfg_cells : left;
  wire begins = done_cells == 8'd0;
  wire ends_frame = here == 32'(N);
  wire ends = ends_frame || done_cells == 8'(256 - N);
  wire [7:0] cells = here > 32'd255 ? 8'd255 : here[7:0] - 8'd1;
  always_ff @(posedge clk)
    if (rst) begin
      left <= 32'd0;
      done_cells <= 8'd0;
    end else if (en && s_axis_tvalid) begin
      left <= here - 32'(N);
      done_cells <= ends ? 8'd0 : done_cells + 8'(N);
    end

  // 1: mapped words.
  logic [RAW-1:0] mapped, raw_1;
  logic [SW-1:0] side_1;  // of the last block, first, begins, ends, ends the frame, cells - 1, valid
  always_ff @(posedge clk)
    if (rst) side_1 <= {SW{1'b0}};
    else if (en) side_1 <= {here <= 32'd256, is_first, begins, ends, ends_frame, cells, s_axis_tvalid};
  genvar i;
  generate
    for (i = 0; i < C * N; i = i + 1) begin : g_map
      wire [31:0] number = s_axis_tdata[32*i+:32];
      always_ff @(posedge clk)
        if (en) begin
          mapped[32*i+:32] <= FLOATS != 0 ? number ^ {1'b1, {31{number[31]}}} : number;
          raw_1[32*i+:32] <= number;
        end
    end
  endgenerate

  // 2: second differences along the row.
  logic [RAW-1:0] last, long_last, differences, raw_2;
  logic [SW-1:0] side_2;
  wire is_first_1 = side_1[12];
  always_ff @(posedge clk)
    if (rst) side_2 <= {SW{1'b0}};
    else if (en) begin
      side_2 <= side_1;
      raw_2 <= raw_1;
      if (side_1[0]) begin
        last <= mapped;
        long_last <= is_first_1 && fault != 4'd2 ? {RAW{1'b0}} : last;
      end
    end
  generate
    for (i = 0; i < C * N; i = i + 1) begin : g_difference
      wire [30:0] one = is_first_1 ? 31'd0 : last[32*i+:31];
      wire [31:0] two = is_first_1 ? 32'd0 : long_last[32*i+:32];
      always_ff @(posedge clk) if (en) differences[32*i+:32] <= mapped[32*i+:32] - {one, 1'b0} + two;
    end
  endgenerate

  // 3: these less those of the row before.
  logic [RAW-1:0] residuals, raw_3;
  logic [SW-1:0] side_3;
  always_ff @(posedge clk)
    if (rst) side_3 <= {SW{1'b0}};
    else if (en) begin
      side_3 <= side_2;
      raw_3 <= raw_2;
    end
  generate
    if (PLANE != 0) begin : g_row
      logic [RAW-1:0] row[0:ROW-1];
      logic [RAW-1:0] above;
      logic [RB-1:0] place;
      wire [RB-1:0] next_place;
      logic has_row;
      // Of the word in stage 2, or of the next one that comes there; a frame begins at 0.
      wire moves = side_2[0];
      wire [RB-1:0] following = place == RB'(ROW - 1) ? {RB{1'b0}} : place + RB'(1);
      assign next_place = side_1[0] && side_1[12] ? {RB{1'b0}} : moves ? following : place;
      wire knows = (!side_2[12] || fault == 4'd1) && has_row;
      always_ff @(posedge clk) begin
        if (en) begin
          above <= row[next_place];
          place <= next_place;
          if (moves) begin
            row[place] <= differences;
            has_row <= knows || place == RB'(ROW - 1);
          end
        end
        if (rst) begin
          place <= {RB{1'b0}};
          has_row <= 1'b0;
        end
      end
      for (i = 0; i < C * N; i = i + 1) begin : g_residual
        always_ff @(posedge clk)
          if (en) residuals[32*i+:32] <= differences[32*i+:32] - (knows ? above[32*i+:32] : 32'd0);
      end
    end else begin : g_line
      always_ff @(posedge clk) if (en) residuals <= differences;
    end
  endgenerate

  // 4 and on: cells are packed, what stands beside them waits.
  wire [RAW-1:0] raw_packed;
  wire [SW-1:0] side_packed;
  fm_fp_wait #(
      .BITS(RAW), .STEPS(STEPS)
  ) raw_wait (
      .clk, .rst(1'b0), .en, .in(raw_3), .out(raw_packed)
  );
  fm_fp_wait #(
      .BITS(SW), .STEPS(STEPS)
  ) side_wait (
      .clk, .rst, .en, .in(side_3), .out(side_packed)
  );
  wire [35*C*N-1:0] cell_bits;
  wire [LB*N-1:0] cell_lengths;
  generate
    for (i = 0; i < N; i = i + 1) begin : g_lane
      fm_fp_pack #(
          .C(C), .LB(LB)
      ) pack (
          .clk, .en, .residuals(residuals[32*C*i+:32*C]), .cell_bits(cell_bits[35*C*i+:35*C]),
          .cell_length(cell_lengths[LB*i+:LB])
      );
    end
  endgenerate

  // Cells of a word, one behind the other.
  logic [CODED-1:0] coded, coded_now;
  logic [LB-1:0] length, length_now;
  logic [RAW-1:0] raw;
  logic [SW-1:0] side;
  always_comb begin
    integer j;
    coded_now = {CODED{1'b0}};
    length_now = {LB{1'b0}};
    for (j = 0; j < N; j = j + 1) begin
      coded_now = coded_now | {{(CODED - 35 * C) {1'b0}}, cell_bits[35*C*j+:35*C]} << length_now;
      length_now = length_now + cell_lengths[LB*j+:LB];
    end
  end
  always_ff @(posedge clk)
    if (rst) side <= {SW{1'b0}};
    else if (en) begin
      side <= side_packed;
      raw <= raw_packed;
      coded <= coded_now;
      length <= length_now;
    end

  // The end: flits are filled; a word comes in where less than one is left.
  localparam integer ALL = CODED + 32 + W;
  logic [ALL-1:0] open;
  logic [LB-1:0] filled;
  logic closes;  // what is open ends a frame
  logic is_raw, raw_next;
  logic [SB-1:0] coded_bits, raw_bits;  // of the block so far, with its head
  wire leaves = m_axis_tvalid && m_axis_tready;
  wire [LB-1:0] rest = leaves ? filled - LB'(W) : filled;
  assign en = rest < LB'(W) || (fault == 4'd6 && !m_axis_tready);
  assign m_axis_tvalid = filled >= LB'(W);
  assign m_axis_tdata = open[W-1:0];
  assign m_axis_tlast = closes && filled == LB'(W);

  wire valid = side[0];
  wire starts = side[11];
  wire stops = side[10];
  wire is_raw_now = starts ? raw_next && (!side[12] || fault == 4'd3) : is_raw;
  wire [31:0] head = {16'd0, 4'd0, side[13], PLANE != 0 ? 2'd2 : 2'd0, is_raw_now, side[8:1]};
  wire [LB-1:0] bits = is_raw_now ? LB'(RAW) : length;
  wire [LB-1:0] added = starts ? bits + LB'(32) : bits;
  wire [CODED-1:0] payload = is_raw_now ? {{(CODED - RAW) {1'b0}}, raw} : coded;
  wire [CODED+31:0] piece = starts ? {payload, head} : {32'd0, payload};
  wire [LB-1:0] unrounded = rest + (valid ? added : {LB{1'b0}});
  wire [LB-1:0] rounded = (unrounded + LB'(W - 1)) & ~LB'(W - 1);
  wire [SB-1:0] coded_before = starts && fault != 4'd4 ? SB'(32) : coded_bits;
  wire [SB-1:0] raw_before = starts ? SB'(32) : raw_bits;
  wire [SB-1:0] coded_sum = coded_before + SB'(length);
  wire [SB-1:0] raw_sum = raw_before + SB'(RAW);
  wire [SB-1:0] coded_flits = (coded_sum + SB'(W - 1)) / SB'(W);
  wire [SB-1:0] raw_flits = (raw_sum + SB'(W - 1)) / SB'(W);
  wire [ALL-1:0] moved = leaves ? open >> W : open;
  always_ff @(posedge clk) begin
    if (en && valid) begin
      open <= moved | {{W{1'b0}}, piece} << rest;
      filled <= stops && (fault != 4'd5 || side[9]) ? rounded : unrounded;
      closes <= side[9];
      is_raw <= is_raw_now;
      coded_bits <= coded_sum;
      raw_bits <= raw_sum;
      if (stops) raw_next <= raw_flits < coded_flits;
    end else begin
      open <= moved;
      filled <= rest;
    end
    if (rst) begin
      open <= {ALL{1'b0}};
      filled <= {LB{1'b0}};
      closes <= 1'b0;
      raw_next <= 1'b0;
    end
  end
endmodule
`default_nettype wire
