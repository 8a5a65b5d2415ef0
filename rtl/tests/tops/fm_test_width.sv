// For benches: words of A bytes become flits of F bytes and words again, for several pairs side by side; each has 64 bytes
// of every port.
`default_nettype none
module fm_test_width #(
    parameter integer PAIRS = 4,
    // Pair i in bits 32 i and above: A below, F above it.
    parameter logic [32*PAIRS-1:0] SIZES = {16'd32, 16'd48, 16'd16, 16'd7, 16'd32, 16'd32, 16'd32, 16'd40}
) (
    input  wire                  clk,
    input  wire                  rst,
    input  wire  [          5:0] fault,
    /* verilator lint_off UNUSEDSIGNAL */  // not all pairs have words of 64 bytes
    input  wire  [512*PAIRS-1:0] s_axis_tdata,
    input  wire  [ 64*PAIRS-1:0] s_axis_tkeep,
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire  [     PAIRS-1:0] s_axis_tlast,
    input  wire  [     PAIRS-1:0] s_axis_tvalid,
    output wire  [     PAIRS-1:0] s_axis_tready,
    output logic [512*PAIRS-1:0] flit_tdata,
    output logic [ 64*PAIRS-1:0] flit_tkeep,
    output wire  [     PAIRS-1:0] flit_tlast,
    output wire  [     PAIRS-1:0] flit_tvalid,
    output wire  [     PAIRS-1:0] flit_tready,
    input  wire  [     PAIRS-1:0] passes,       // a flit may go from the first converter to the second one
    output logic [512*PAIRS-1:0] m_axis_tdata,
    output logic [ 64*PAIRS-1:0] m_axis_tkeep,
    output wire  [     PAIRS-1:0] m_axis_tlast,
    output wire  [     PAIRS-1:0] m_axis_tvalid,
    input  wire  [     PAIRS-1:0] m_axis_tready,
    output wire  [  32*PAIRS-1:0] sizes
);
  assign sizes = SIZES;
  genvar i;
  generate
    for (i = 0; i < PAIRS; i = i + 1) begin : g_pair
      localparam integer A = 32'(SIZES[32*i+:16]);
      localparam integer F = 32'(SIZES[32*i+16+:16]);
      wire [8*F-1:0] flit;
      wire [F-1:0] flit_keep;
      wire [8*A-1:0] word;
      wire [A-1:0] word_keep;
      wire valid, ready;
      assign flit_tvalid[i] = valid && passes[i];
      assign flit_tready[i] = ready;
      fm_width_conv #(
          .SB(A), .MB(F)
      ) to_flits (
          .clk, .rst, .fault, .s_axis_tdata(s_axis_tdata[512*i+:8*A]), .s_axis_tkeep(s_axis_tkeep[64*i+:A]),
          .s_axis_tlast(s_axis_tlast[i]), .s_axis_tvalid(s_axis_tvalid[i]), .s_axis_tready(s_axis_tready[i]),
          .m_axis_tdata(flit), .m_axis_tkeep(flit_keep), .m_axis_tlast(flit_tlast[i]), .m_axis_tvalid(valid),
          .m_axis_tready(ready && passes[i])
      );
      fm_width_conv #(
          .SB(F), .MB(A)
      ) to_words (
          .clk, .rst, .fault, .s_axis_tdata(flit), .s_axis_tkeep(flit_keep), .s_axis_tlast(flit_tlast[i]),
          .s_axis_tvalid(flit_tvalid[i]), .s_axis_tready(ready), .m_axis_tdata(word), .m_axis_tkeep(word_keep),
          .m_axis_tlast(m_axis_tlast[i]), .m_axis_tvalid(m_axis_tvalid[i]), .m_axis_tready(m_axis_tready[i])
      );
      always_comb begin
        flit_tdata[512*i+:512] = 512'd0;
        flit_tdata[512*i+:8*F] = flit;
        flit_tkeep[64*i+:64] = 64'd0;
        flit_tkeep[64*i+:F] = flit_keep;
        m_axis_tdata[512*i+:512] = 512'd0;
        m_axis_tdata[512*i+:8*A] = word;
        m_axis_tkeep[64*i+:64] = 64'd0;
        m_axis_tkeep[64*i+:A] = word_keep;
      end
    end
  endgenerate
endmodule
`default_nettype wire
