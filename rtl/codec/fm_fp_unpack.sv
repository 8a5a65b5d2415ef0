// The residuals of a cell from its bits, of which classes are given apart: the other way of fm_fp_pack. Takes 1 + log2(C) cycles
// in which `en` is set.
`default_nettype none
module fm_fp_unpack #(
    parameter integer C = 10,
    parameter integer LB = 10
) (
    input  wire             clk,
    input  wire             en,
    input  wire  [ 3*C-1:0] classes,
    input  wire  [32*C-1:0] cell_bits,
    output wire  [32*C-1:0] residuals
);
  localparam integer LV = $clog2(C);
  localparam integer P = 1 << LV;

  // Of each level down to the leaves: level LV has one piece of all, level 0 one a channel. Lengths of all channels go along.
  /* verilator lint_off UNUSEDSIGNAL */  // there are no more than C leaves
  wire [32*P*(LV+1)-1:0] pieces;
  wire [LB*P*(LV+1)-1:0] lengths;  // of the leaves
  /* verilator lint_on UNUSEDSIGNAL */
  assign pieces[32*P*LV+:32*P] = {{(32 * P - 32 * C) {1'b0}}, cell_bits};

  genvar i, l;
  generate
    for (i = 0; i < P; i = i + 1) begin : g_length
      if (i < C) begin : g_channel
        wire [2:0] number = classes[3*i+:3];
        assign lengths[LB*P*LV+LB*i+:LB] = number == 3'd7 ? LB'(32) : LB'({number, 2'b00});
      end else begin : g_none
        assign lengths[LB*P*LV+LB*i+:LB] = {LB{1'b0}};
      end
    end
    for (l = LV; l >= 1; l = l - 1) begin : g_level
      localparam integer HALF = 32 << (l - 1);
      localparam integer LEAVES = 1 << (l - 1);  // of half a piece
      logic [LB*P-1:0] lengths_r;
      always_ff @(posedge clk) if (en) lengths_r <= lengths[LB*P*l+:LB*P];
      assign lengths[LB*P*(l-1)+:LB*P] = lengths_r;
      for (i = 0; i < P >> l; i = i + 1) begin : g_piece
        wire [2*HALF-1:0] piece = pieces[32*P*l+2*i*HALF+:2*HALF];
        logic [LB-1:0] length;
        always_comb begin
          integer k;
          length = {LB{1'b0}};
          for (k = 0; k < LEAVES; k = k + 1) length = length + lengths[LB*P*l+LB*(2*LEAVES*i+k)+:LB];
        end
        /* verilator lint_off UNUSEDSIGNAL */  // of the higher half no more than a half is left
        wire [2*HALF-1:0] high = piece >> length;
        /* verilator lint_on UNUSEDSIGNAL */
        logic [2*HALF-1:0] halves_r;
        always_ff @(posedge clk) if (en) halves_r <= {high[HALF-1:0], piece[HALF-1:0]};
        assign pieces[32*P*(l-1)+2*i*HALF+:2*HALF] = halves_r;
      end
    end
    for (i = 0; i < C; i = i + 1) begin : g_leaf
      // What stands behind a residual is the next one's.
      wire [31:0] mask = ~(32'hFFFFFFFF << lengths[LB*i+:LB]);
      wire [31:0] z = pieces[32*i+:32] & mask;
      logic [31:0] residual_r;
      always_ff @(posedge clk) if (en) residual_r <= {1'b0, z[31:1]} ^ {32{z[0]}};
      assign residuals[32*i+:32] = residual_r;
    end
  endgenerate
endmodule
`default_nettype wire
