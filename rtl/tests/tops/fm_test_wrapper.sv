// For benches: two ends of a credit link, each over the wrapper of a vendor's core; what the core would be is the bench's.
// The ports of all cores under the same names: those that a core does not have do nothing.
`default_nettype none
module fm_test_wrapper #(
    parameter integer KIND = 0,  // CMAC, Low Latency Ethernet, Aurora, Serial Lite III
    parameter integer W = KIND == 0 ? 512 : KIND == 1 ? 256 : 128,
    parameter integer D = 8
) (
    input  wire              clk,
    input  wire              rx_clk,     // of a core that has one
    input  wire              rst,
    input  wire  [      5:0] fault,
    input  wire  [  2*W-1:0] s_axis_tdata,
    input  wire  [      1:0] s_axis_tvalid,
    output wire  [      1:0] s_axis_tready,
    output wire  [  2*W-1:0] m_axis_tdata,
    output wire  [      1:0] m_axis_tvalid,
    input  wire  [      1:0] m_axis_tready,
    output wire  [  2*W-1:0] tx_data,
    output wire  [2*W/8-1:0] tx_keep,
    output wire  [     11:0] tx_empty,
    output wire  [      1:0] tx_valid,
    output wire  [      1:0] tx_first,
    output wire  [      1:0] tx_last,
    input  wire  [      1:0] tx_ready,
    input  wire  [  2*W-1:0] rx_data,
    input  wire  [2*W/8-1:0] rx_keep,
    input  wire  [     11:0] rx_empty,
    input  wire  [      1:0] rx_valid,
    input  wire  [      1:0] rx_first,
    input  wire  [      1:0] rx_last,
    input  wire  [      1:0] rx_error,   // where the core says so
    input  wire  [      1:0] is_up,
    output wire  [      1:0] link_up,
    output wire  [      1:0] up,
    output wire  [     63:0] words_in,
    output wire  [     63:0] words_out,
    output wire  [     63:0] lost_flits,
    output wire  [     15:0] epoch
);
  localparam integer B = W / 8;
  localparam logic [47:0] FIRST = 48'h02_00_00_00_00_00;
  wire [2*W-1:0] flit, got;
  wire [1:0] flit_valid, flit_ready, flit_last, got_valid;
  wire [3:0] flit_user, got_user;
  genvar i;
  generate
    for (i = 0; i < 2; i = i + 1) begin : g_end
      fm_credit_link #(
          .W(W), .D(D), .RX(64), .KEEPALIVE(300), .SYNC_INTERVAL(64), .RX_COMMIT(1), .PAYLOAD_CRC(0)
      ) link_end (
          .clk, .rst, .link_up(link_up[i]), .s_axis_tdata(s_axis_tdata[W*i+:W]), .s_axis_tkeep({B{1'b1}}),
          .s_axis_tlast(1'b0), .s_axis_tvalid(s_axis_tvalid[i]), .s_axis_tready(s_axis_tready[i]),
          .m_axis_tdata(m_axis_tdata[W*i+:W]), .m_axis_tkeep(), .m_axis_tlast(), .m_axis_tvalid(m_axis_tvalid[i]),
          .m_axis_tready(m_axis_tready[i]), .tx_axis_tdata(flit[W*i+:W]), .tx_axis_tvalid(flit_valid[i]),
          .tx_axis_tready(flit_ready[i]), .tx_axis_tlast(flit_last[i]), .tx_axis_tuser(flit_user[2*i+:2]),
          .rx_axis_tdata(got[W*i+:W]), .rx_axis_tvalid(got_valid[i]), .rx_axis_tuser(got_user[2*i+:2]), .up(up[i]),
          .epoch(epoch[8*i+:8]), .words_in(words_in[32*i+:32]), .words_out(words_out[32*i+:32]),
          .lost_flits(lost_flits[32*i+:32]), .cut_packets(), .bad_headers(), .bad_payloads(), .stray_flits(),
          .stalled_cycles(), .error_code()
      );
      if (KIND == 0) begin : g_cmac
        fm_wrap_cmac #(
            .D(D)
        ) wrapper (
            .clk, .rst, .fault, .address(FIRST + 48'(i)), .peers(FIRST + 48'(1 - i)), .ethertype(16'h88B5),
            .link_up(link_up[i]), .s_axis_tdata(flit[W*i+:W]), .s_axis_tvalid(flit_valid[i]),
            .s_axis_tready(flit_ready[i]), .s_axis_tlast(flit_last[i]), .s_axis_tuser(flit_user[2*i+:2]),
            .m_axis_tdata(got[W*i+:W]), .m_axis_tvalid(got_valid[i]), .m_axis_tlast(), .m_axis_tuser(got_user[2*i+:2]),
            .sent_frames(), .frames(), .dropped_frames(), .bad_frames(), .has_underrun(),
            .tx_axis_tdata(tx_data[W*i+:W]), .tx_axis_tkeep(tx_keep[B*i+:B]), .tx_axis_tvalid(tx_valid[i]),
            .tx_axis_tready(tx_ready[i]), .tx_axis_tlast(tx_last[i]), .tx_axis_tuser(), .tx_ovfout(1'b0),
            .tx_unfout(1'b0), .rx_axis_tdata(rx_data[W*i+:W]), .rx_axis_tkeep(rx_keep[B*i+:B]),
            .rx_axis_tvalid(rx_valid[i]), .rx_axis_tlast(rx_last[i]), .rx_axis_tuser(rx_error[i]),
            .stat_rx_aligned(is_up[i])
        );
        assign tx_empty[6*i+:6] = 6'd0;
        assign tx_first[i] = 1'b0;
      end else if (KIND == 1) begin : g_ll_ethernet
        fm_wrap_ll_ethernet #(
            .W(W), .D(D)
        ) wrapper (
            .clk_txmac(clk), .clk_rxmac(rx_clk), .rst, .fault, .address(FIRST + 48'(i)), .peers(FIRST + 48'(1 - i)),
            .ethertype(16'h88B5), .link_up(link_up[i]), .s_axis_tdata(flit[W*i+:W]), .s_axis_tvalid(flit_valid[i]),
            .s_axis_tready(flit_ready[i]), .s_axis_tlast(flit_last[i]), .s_axis_tuser(flit_user[2*i+:2]),
            .m_axis_tdata(got[W*i+:W]), .m_axis_tvalid(got_valid[i]), .m_axis_tlast(), .m_axis_tuser(got_user[2*i+:2]),
            .sent_frames(), .frames(), .dropped_frames(), .bad_frames(), .tx_data(tx_data[W*i+:W]),
            .tx_empty(tx_empty[6*i+:$clog2(B)]), .tx_startofpacket(tx_first[i]), .tx_endofpacket(tx_last[i]),
            .tx_valid(tx_valid[i]), .tx_ready(tx_ready[i]), .tx_error(), .tx_lanes_stable(1'b1),
            .rx_data(rx_data[W*i+:W]), .rx_empty(rx_empty[6*i+:$clog2(B)]), .rx_startofpacket(rx_first[i]),
            .rx_endofpacket(rx_last[i]), .rx_valid(rx_valid[i]), .rx_error({4'd0, rx_error[i], 1'b0}),
            .rx_pcs_ready(is_up[i])
        );
        assign tx_keep[B*i+:B] = {B{1'b1}};
        if ($clog2(B) < 6) begin : g_empty
          assign tx_empty[6*i+5:6*i+$clog2(B)] = {(6 - $clog2(B)) {1'b0}};
        end
      end else if (KIND == 2) begin : g_aurora
        fm_wrap_aurora #(
            .W(W), .CRC_CHECKED(1)
        ) wrapper (
            .clk, .rst, .fault, .link_up(link_up[i]), .s_axis_tdata(flit[W*i+:W]), .s_axis_tvalid(flit_valid[i]),
            .s_axis_tready(flit_ready[i]), .s_axis_tlast(flit_last[i]), .m_axis_tdata(got[W*i+:W]),
            .m_axis_tvalid(got_valid[i]), .m_axis_tlast(), .m_axis_tuser(got_user[2*i+:2]),
            .s_axi_tx_tdata(tx_data[W*i+:W]), .s_axi_tx_tkeep(tx_keep[B*i+:B]), .s_axi_tx_tlast(tx_last[i]),
            .s_axi_tx_tvalid(tx_valid[i]), .s_axi_tx_tready(tx_ready[i]), .m_axi_rx_tdata(rx_data[W*i+:W]),
            .m_axi_rx_tkeep(rx_keep[B*i+:B]), .m_axi_rx_tlast(rx_last[i]), .m_axi_rx_tvalid(rx_valid[i]),
            .channel_up(is_up[i]), .hard_err(1'b0), .soft_err(rx_error[i] && !rx_valid[i]),
            .crc_valid(rx_valid[i] && rx_last[i]), .crc_pass_fail_n(!rx_error[i])
        );
        assign tx_empty[6*i+:6] = 6'd0;
        assign tx_first[i] = 1'b0;
      end else begin : g_serial_lite
        fm_wrap_serial_lite #(
            .LANES(W / 64)
        ) wrapper (
            .clk, .rst, .fault, .link_up(link_up[i]), .s_axis_tdata(flit[W*i+:W]), .s_axis_tvalid(flit_valid[i]),
            .s_axis_tready(flit_ready[i]), .s_axis_tlast(flit_last[i]), .m_axis_tdata(got[W*i+:W]),
            .m_axis_tvalid(got_valid[i]), .m_axis_tlast(), .m_axis_tuser(got_user[2*i+:2]), .data_tx(tx_data[W*i+:W]),
            .valid_tx(tx_valid[i]), .start_of_burst_tx(tx_first[i]), .end_of_burst_tx(tx_last[i]), .sync_tx(),
            .ready_tx(tx_ready[i]), .link_up_tx(is_up[i]), .data_rx(rx_data[W*i+:W]), .valid_rx(rx_valid[i]),
            .start_of_burst_rx(rx_first[i]), .end_of_burst_rx(rx_last[i]), .link_up_rx(is_up[i]),
            .error_rx({rx_error[i], {(W / 64 + 4) {1'b0}}})
        );
        assign tx_keep[B*i+:B] = {B{1'b1}};
        assign tx_empty[6*i+:6] = 6'd0;
      end
    end
  endgenerate
endmodule
`default_nettype wire
