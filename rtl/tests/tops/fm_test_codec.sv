// For benches: compression, and behind it decompression.
`default_nettype none
module fm_test_codec #(
    parameter integer W = 256,
    parameter integer C = 10,
    parameter integer N = 1,
    parameter integer PLANE = 1,
    parameter integer FLOATS = 1,
    parameter integer COLUMNS = 20
) (
    input  wire               clk,
    input  wire               rst,
    input  wire  [       3:0] fault,
    input  wire  [      31:0] cfg_cells,
    input  wire  [32*C*N-1:0] s_axis_tdata,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    output wire  [     W-1:0] flit_tdata,
    output wire               flit_tlast,
    output wire               flit_tvalid,
    output wire               flit_tready,
    input  wire               passes,         // a flit may go from compression to decompression
    output wire  [32*C*N-1:0] m_axis_tdata,
    output wire               m_axis_tlast,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               bad_head
);
  wire ready;
  assign flit_tready = ready && passes;
  fm_fp_compress #(
      .W(W), .C(C), .N(N), .PLANE(PLANE), .FLOATS(FLOATS), .COLUMNS(COLUMNS)
  ) compress (
      .clk, .rst, .fault, .cfg_cells, .s_axis_tdata, .s_axis_tvalid, .s_axis_tready, .m_axis_tdata(flit_tdata),
      .m_axis_tlast(flit_tlast), .m_axis_tvalid(flit_tvalid), .m_axis_tready(flit_tready)
  );
  fm_fp_decompress #(
      .W(W), .C(C), .N(N), .PLANE(PLANE), .FLOATS(FLOATS), .COLUMNS(COLUMNS)
  ) decompress (
      .clk, .rst, .fault, .s_axis_tdata(flit_tdata), .s_axis_tvalid(flit_tvalid && passes), .s_axis_tready(ready),
      .m_axis_tdata, .m_axis_tlast, .m_axis_tvalid, .m_axis_tready, .bad_head
  );
endmodule
`default_nettype wire
