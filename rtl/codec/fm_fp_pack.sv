// The residuals of a cell become bits without gaps, LSB first, behind its classes: C channels of 32 bits. Takes
// 1 + log2(C) cycles in which `en` is set.
`default_nettype none
module fm_fp_pack #(
    parameter integer C = 10,
    parameter integer LB = 10,  // bits of a length
    parameter integer CB = 35 * C
) (
    input  wire             clk,
    input  wire             en,
    input  wire  [32*C-1:0] residuals,
    output wire  [  CB-1:0] cell_bits,
    output wire  [  LB-1:0] cell_length
);
  localparam integer LV = $clog2(C);
  localparam integer P = 1 << LV;  // leaves of the tree

  // Of each level from the leaves on: pieces one behind the other, and their lengths. A piece is twice as long as one of the
  // level before, and there are half as many.
  /* verilator lint_off UNUSEDSIGNAL */  // higher levels have fewer lengths, and the last piece C words
  wire [32*P*(LV+1)-1:0] pieces;
  wire [LB*P*(LV+1)-1:0] lengths;
  /* verilator lint_on UNUSEDSIGNAL */
  wire [3*C*(LV+1)-1:0] classes;

  function automatic logic [2:0] class_of(input logic [31:0] z);
    begin
      class_of = |z[31:24] ? 3'd7 : |z[23:20] ? 3'd6 : |z[19:16] ? 3'd5 : |z[15:12] ? 3'd4 : |z[11:8] ? 3'd3
                 : |z[7:4] ? 3'd2 : |z[3:0] ? 3'd1 : 3'd0;
    end
  endfunction
  function automatic logic [LB-1:0] length_of(input logic [2:0] number);
    begin
      length_of = number == 3'd7 ? LB'(32) : LB'({number, 2'b00});
    end
  endfunction

  genvar i, l;
  generate
    for (i = 0; i < P; i = i + 1) begin : g_leaf
      if (i < C) begin : g_channel
        wire [31:0] r = residuals[32*i+:32];
        wire [31:0] z = {r[30:0], 1'b0} ^ {32{r[31]}};
        wire [2:0] number = class_of(z);
        logic [31:0] piece_r;
        logic [2:0] class_r;
        always_ff @(posedge clk)
          if (en) begin
            piece_r <= z;
            class_r <= number;
          end
        assign pieces[32*i+:32] = piece_r;
        assign lengths[LB*i+:LB] = length_of(class_r);
        assign classes[3*i+:3] = class_r;
      end else begin : g_none
        assign pieces[32*i+:32] = 32'd0;
        assign lengths[LB*i+:LB] = {LB{1'b0}};
      end
    end
    for (l = 1; l <= LV; l = l + 1) begin : g_level
      localparam integer HALF = 32 << (l - 1);
      for (i = 0; i < P >> l; i = i + 1) begin : g_piece
        wire [HALF-1:0] low = pieces[32*P*(l-1)+2*i*HALF+:HALF];
        wire [HALF-1:0] high = pieces[32*P*(l-1)+(2*i+1)*HALF+:HALF];
        wire [LB-1:0] length = lengths[LB*P*(l-1)+LB*2*i+:LB];
        logic [2*HALF-1:0] piece_r;
        logic [LB-1:0] length_r;
        always_ff @(posedge clk)
          if (en) begin
            piece_r <= {{HALF{1'b0}}, low} | {{HALF{1'b0}}, high} << length;
            length_r <= length + lengths[LB*P*(l-1)+LB*(2*i+1)+:LB];
          end
        assign pieces[32*P*l+2*i*HALF+:2*HALF] = piece_r;
        assign lengths[LB*P*l+LB*i+:LB] = length_r;
      end
      for (i = P >> l; i < P; i = i + 1) begin : g_unused
        assign lengths[LB*P*l+LB*i+:LB] = {LB{1'b0}};
      end
      logic [3*C-1:0] classes_r;
      always_ff @(posedge clk) if (en) classes_r <= classes[3*C*(l-1)+:3*C];
      assign classes[3*C*l+:3*C] = classes_r;
    end
  endgenerate
  assign cell_bits = {pieces[32*P*LV+:32*C], classes[3*C*LV+:3*C]};
  assign cell_length = LB'(3 * C) + lengths[LB*P*LV+:LB];
endmodule
`default_nettype wire
