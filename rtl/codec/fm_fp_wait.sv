// What stands beside a pipeline waits as long as it takes: STEPS cycles in which `en` is set.
`default_nettype none
module fm_fp_wait #(
    parameter integer BITS = 1,
    parameter integer STEPS = 1
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            en,
    input  wire [BITS-1:0] in,
    output wire [BITS-1:0] out
);
  wire [BITS*(STEPS+1)-1:0] waiting;
  assign waiting[0+:BITS] = in;
  assign out = waiting[BITS*STEPS+:BITS];
  genvar s;
  generate
    for (s = 1; s <= STEPS; s = s + 1) begin : g_step
      logic [BITS-1:0] kept;
      always_ff @(posedge clk)
        if (rst) kept <= {BITS{1'b0}};
        else if (en) kept <= waiting[BITS*(s-1)+:BITS];
      assign waiting[BITS*s+:BITS] = kept;
    end
  endgenerate
endmodule
`default_nettype wire
