// The other way of fm_fp_compress: flits of W bits in, a word of N cells of C channels a cycle out. `bad_head` stays set after a
// head that no compressor with these parameters makes; what comes out then means nothing.
`default_nettype none
module fm_fp_decompress #(
    parameter integer W = 256,
    parameter integer C = 10,
    parameter integer N = 1,
    parameter integer PLANE = 1,
    parameter integer FLOATS = 1,
    parameter integer COLUMNS = 720
) (
    input  wire               clk,
    input  wire               rst,
`ifdef FM_FAULTS
    input  wire  [       3:0] fault,
`endif
    input  wire  [     W-1:0] s_axis_tdata,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    output wire  [32*C*N-1:0] m_axis_tdata,
    output wire               m_axis_tlast,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output logic              bad_head
);
  localparam integer RAW = 32 * C * N;
  localparam integer CODED = 35 * C * N;
  localparam integer MOST = CODED + 32;  // bits of a word and a head
  localparam integer ALL = (MOST + 2 * W - 1) / W * W + W;
  localparam integer LB = $clog2(ALL + 1) + 1;
  localparam integer STEPS = $clog2(C) + 1;  // of fm_fp_unpack
  localparam integer ROW = COLUMNS / N;
  localparam integer RB = $clog2(ROW);
  localparam integer SW = 4;  // of what goes beside a word: first of the frame, raw, last, valid


`ifndef FM_FAULTS
  wire [3:0] fault = 4'd0;
`endif
  wire en;  // what follows moves

  // Bits that came and were not taken; behind them zeros.
  logic [ALL-1:0] open;
  logic [LB-1:0] filled;

  // Of the block: whether it goes on, how many of its cells are to come, and what its head says.
  logic goes_on, is_raw, is_last_block, is_first;
  logic [8:0] left;
  wire [31:0] head = open[31:0];
  wire raw_now = goes_on ? is_raw : head[8];
  wire last_now = goes_on ? is_last_block : head[11];
  wire [8:0] left_now = goes_on ? left : {1'b0, head[7:0]} + 9'd1;
  wire [LB-1:0] offset = goes_on ? {LB{1'b0}} : LB'(32);
  wire [ALL-1:0] front = goes_on ? open : open >> 32;
  wire [1:0] predictor = PLANE != 0 ? 2'd2 : 2'd0;
  wire is_good = head[31:12] == 20'd0 && head[10:9] == (fault == 4'd12 ? ~predictor : predictor);

  // Cells of a word one after the other: how long each is follows from its classes.
  logic [LB-1:0] length;
  logic [3*C*N-1:0] classes;
  logic [RAW-1:0] cells;
  always_comb begin
    integer j, k;
    logic [ALL-1:0] rest;
    logic [LB-1:0] of_cell;
    length = {LB{1'b0}};
    rest = front;
    classes = {(3 * C * N) {1'b0}};
    cells = {RAW{1'b0}};
    for (j = 0; j < N; j = j + 1) begin
      of_cell = LB'(3 * C);
      for (k = 0; k < C; k = k + 1)
        of_cell = of_cell + (rest[3*k+:3] == 3'd7 ? LB'(32) : LB'({rest[3*k+:3], 2'b00}));
      classes[3*C*j+:3*C] = rest[3*C-1:0];
      cells[32*C*j+:32*C] = rest[3*C+:32*C];
      length = length + of_cell;
      rest = rest >> of_cell;
    end
  end
  wire [LB-1:0] bits = offset + (raw_now ? LB'(RAW) : length);
  // Where classes have not come, zeros stand for them, and the cell is longer than what has come.
  wire takes = en && (filled >= bits || (fault == 4'd8 && filled >= LB'(W)));
  wire ends = left_now == 9'(N);
  wire [LB-1:0] after = filled - bits;
  // What fills up the block's last flit is dropped.
  wire [LB-1:0] kept = ends && fault != 4'd7 ? after & ~LB'(W - 1) : after;
  wire [LB-1:0] rest_filled = takes ? kept : filled;
  wire [LB-1:0] dropped = takes ? filled - kept : {LB{1'b0}};
  assign s_axis_tready = rest_filled <= LB'(ALL - W);
  wire comes = s_axis_tvalid && s_axis_tready;
  wire [ALL-1:0] moved = open >> dropped;
  always_ff @(posedge clk) begin
    open <= moved | (comes ? {{(ALL - W) {1'b0}}, s_axis_tdata} << rest_filled : {ALL{1'b0}});
    filled <= rest_filled + (comes ? LB'(W) : {LB{1'b0}});
    if (takes) begin
      goes_on <= !ends;
      is_raw <= raw_now;
      is_last_block <= last_now;
      left <= left_now - 9'(N);
      is_first <= ends && last_now && fault != 4'd11;
      if (!goes_on && !is_good) bad_head <= 1'b1;
    end
    if (rst) begin
      open <= {ALL{1'b0}};
      filled <= {LB{1'b0}};
      goes_on <= 1'b0;
      is_first <= 1'b1;
      bad_head <= 1'b0;
    end
  end

  // 1: a word's bits.
  logic [3*C*N-1:0] classes_1;
  logic [RAW-1:0] cells_1, raw_1;
  logic [SW-1:0] side_1;
  always_ff @(posedge clk)
    if (rst) side_1 <= {SW{1'b0}};
    else if (en) begin
      side_1 <= {is_first, raw_now, ends && last_now, takes};
      classes_1 <= classes;
      cells_1 <= cells;
      raw_1 <= front[RAW-1:0];
    end

  // 2 and on: cells are unpacked, what stands beside them waits.
  wire [SW-1:0] side_before, side_2;
  wire [RAW-1:0] raw_2;
  fm_fp_wait #(
      .BITS(RAW), .STEPS(STEPS)
  ) raw_wait (
      .clk, .rst(1'b0), .en, .in(raw_1), .out(raw_2)
  );
  fm_fp_wait #(
      .BITS(SW), .STEPS(STEPS - 1)
  ) side_wait (
      .clk, .rst, .en, .in(side_1), .out(side_before)
  );
  fm_fp_wait #(
      .BITS(SW), .STEPS(1)
  ) last_wait (
      .clk, .rst, .en, .in(side_before), .out(side_2)
  );
  wire [RAW-1:0] residuals;
  genvar i;
  generate
    for (i = 0; i < N; i = i + 1) begin : g_lane
      fm_fp_unpack #(
          .C(C), .LB(LB)
      ) unpack (
          .clk, .en, .classes(classes_1[3*C*i+:3*C]), .cell_bits(cells_1[32*C*i+:32*C]),
          .residuals(residuals[32*C*i+:32*C])
      );
    end
  endgenerate
  wire comes_first = side_before[0] && side_before[3];
  wire goes = side_2[0];
  wire starts = side_2[3];

  // Words from differences: of second order along the row, and of first order across rows.
  logic [RAW-1:0] slopes, words;
  wire [RAW-1:0] above, differences;
  generate
    if (PLANE != 0) begin : g_row
      logic [RAW-1:0] row[0:ROW-1];
      logic [RAW-1:0] above_r;
      logic [RB-1:0] place;
      logic has_row;
      wire [RB-1:0] following = place == RB'(ROW - 1) ? {RB{1'b0}} : place + RB'(1);
      wire [RB-1:0] next_place = comes_first ? {RB{1'b0}} : goes ? following : place;
      wire knows = (!starts || fault == 4'd9) && has_row;
      assign above = knows ? above_r : {RAW{1'b0}};
      always_ff @(posedge clk) begin
        if (en) begin
          above_r <= row[next_place];
          place <= next_place;
          if (goes) begin
            row[place] <= differences;
            has_row <= knows || place == RB'(ROW - 1);
          end
        end
        if (rst) begin
          place <= {RB{1'b0}};
          has_row <= 1'b0;
        end
      end
    end else begin : g_line
      /* verilator lint_off UNUSEDSIGNAL */
      wire unused = &{comes_first, differences};
      /* verilator lint_on UNUSEDSIGNAL */
      assign above = {RAW{1'b0}};
    end
    for (i = 0; i < C * N; i = i + 1) begin : g_word
      wire [31:0] number = raw_2[32*i+:32];
      wire [31:0] mapped = FLOATS != 0 ? number ^ {1'b1, {31{number[31]}}} : number;
      wire [31:0] slope = starts ? 32'd0 : slopes[32*i+:32];
      wire [31:0] word = starts ? 32'd0 : words[32*i+:32];
      wire [31:0] coded_difference = residuals[32*i+:32] + above[32*i+:32];
      wire [31:0] new_slope = side_2[2] ? mapped - word : slope + coded_difference;
      wire [31:0] new_word = side_2[2] ? mapped : word + new_slope;
      assign differences[32*i+:32] = side_2[2] && fault != 4'd10 ? new_slope - slope : coded_difference;
      always_ff @(posedge clk)
        if (en && goes) begin
          slopes[32*i+:32] <= new_slope;
          words[32*i+:32] <= new_word;
        end
      wire [31:0] out = words[32*i+:32];
      assign m_axis_tdata[32*i+:32] = FLOATS != 0 ? out ^ {1'b1, {31{!out[31]}}} : out;
    end
  endgenerate
  logic valid, last;
  always_ff @(posedge clk)
    if (rst) valid <= 1'b0;
    else if (en) begin
      valid <= goes;
      last <= side_2[1];
    end
  assign en = !valid || m_axis_tready;
  assign m_axis_tvalid = valid;
  assign m_axis_tlast = last;
endmodule
`default_nettype wire
