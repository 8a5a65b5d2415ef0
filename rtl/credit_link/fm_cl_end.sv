// One end of a credit link whose parameters are inputs, as constants of `fm_credit_link` or, in simulations, of a bench.
// They stay as they are while it is not in reset. `fault` plants a fault, for benches only.
`default_nettype none
module fm_cl_end #(
    parameter integer W = 256,
    parameter integer TXB = 64,
    parameter integer RXD = 512
) (
    input  wire            clk,
    input  wire            rst,
    input  wire  [   15:0] cfg_packet,
    input  wire  [   15:0] cfg_transmit,
    input  wire  [   15:0] cfg_receive,
    input  wire  [   15:0] cfg_credit,
    input  wire  [   15:0] cfg_timeout,
    input  wire  [   15:0] cfg_keepalive,
    input  wire  [   15:0] cfg_sync_interval,
    input  wire  [   15:0] cfg_sync_timeout,
    input  wire  [   15:0] cfg_resync_errors,
    input  wire  [   15:0] cfg_resync_window,
    input  wire            cfg_payload_crc,
    input  wire            cfg_commit,
    input  wire            cfg_framed,
    input  wire            cfg_by_flit,
    input  wire  [    4:0] fault,
    input  wire            link_up,
    input  wire  [  W-1:0] s_axis_tdata,
    input  wire  [W/8-1:0] s_axis_tkeep,
    input  wire            s_axis_tlast,
    input  wire            s_axis_tvalid,
    output wire            s_axis_tready,
    output wire  [  W-1:0] m_axis_tdata,
    output wire  [W/8-1:0] m_axis_tkeep,
    output wire            m_axis_tlast,
    output wire            m_axis_tvalid,
    input  wire            m_axis_tready,
    output wire  [  W-1:0] tx_axis_tdata,
    output wire            tx_axis_tvalid,
    input  wire            tx_axis_tready,
    output wire            tx_axis_tlast,
    output wire  [    1:0] tx_axis_tuser,  // error, first
    input  wire  [  W-1:0] rx_axis_tdata,
    input  wire            rx_axis_tvalid,
    input  wire  [    1:0] rx_axis_tuser,
    output wire            up,
    output wire  [    7:0] epoch,
    output logic [   31:0] words_in,
    output logic [   31:0] words_out,
    output logic [   31:0] lost_flits,
    output logic [   31:0] cut_packets,
    output logic [   31:0] bad_headers,
    output logic [   31:0] bad_payloads,
    output logic [   31:0] stray_flits,
    output logic [   31:0] stalled_cycles,
    // One bit for each kind, until reset: a flit that found no place, lost flits, a cut packet, bad headers, bad payloads,
    // stray flits.
    output logic [    5:0] error_code
);
  wire payload_crc_on = W >= 256 && cfg_payload_crc;
  wire [1:0] state;
  wire draining, send_sync, seen, owe_header, becomes_ready, resync, link_fell, cut_tx, cut_rx;
  wire [7:0] peer_epoch, rx_epoch;
  wire [15:0] peer_depth, credit, sent, freed, gap, rx_sent, rx_freed, taken_back, told_depth_now;
  wire may_send, take_header, take_credit_only, take_data, take_last, accepts, stalled, must_speak, duplicate;
  wire rx_sync, rx_packet, rx_bad_header, rx_data, rx_ack, take_place, stray, bad_payload, overflow;
  wire down = state == 2'd3;

  logic [15:0] told_depth;  // places at the start of the epoch
  always_ff @(posedge clk)
    if (rst) told_depth <= cfg_receive;
    else if (resync) told_depth <= told_depth_now;

  fm_cl_sync sync (
      .clk, .rst, .cfg_sync_interval, .cfg_sync_timeout, .cfg_resync_errors, .cfg_resync_window, .fault, .link_up,
      .may_send, .take_header, .take_last, .rx_sync, .rx_ack, .rx_epoch, .rx_acked_epoch(rx_sent[7:0]),
      .rx_depth(rx_freed), .rx_packet, .rx_bad_header, .state, .draining, .up, .send_sync, .seen, .epoch, .peer_epoch,
      .peer_depth, .owe_header, .becomes_ready, .resync, .link_fell, .cut_tx
  );

  fm_cl_credit totals (
      .clk, .rst, .cfg_receive, .cfg_credit, .cfg_keepalive, .fault, .resync, .becomes_ready, .draining, .take_header,
      .take_credit_only, .take_data, .rx_packet, .rx_sent, .rx_freed, .rx_data, .take_place, .taken_back, .owe_header,
      .peer_depth, .credit, .must_speak, .sent, .freed, .gap, .duplicate
  );

  wire tx_first;
  assign tx_axis_tuser = {1'b0, tx_first};
  fm_cl_tx #(
      .W(W), .TXB(TXB)
  ) tx (
      .clk, .rst, .cfg_packet, .cfg_transmit, .cfg_timeout, .cfg_payload_crc(payload_crc_on), .cfg_by_flit, .fault,
      .s_axis_tdata, .s_axis_tkeep, .s_axis_tlast, .s_axis_tvalid, .s_axis_tready, .tx_axis_tdata, .tx_axis_tvalid,
      .tx_axis_tfirst(tx_first), .tx_axis_tlast, .tx_axis_tready, .state, .send_sync, .seen, .epoch, .peer_epoch,
      .told_depth, .credit, .must_speak, .sent, .freed, .may_send, .take_header, .take_credit_only, .take_data,
      .take_last, .accepts, .stalled
  );

  fm_cl_rx #(
      .W(W), .RXD(RXD)
  ) rx (
      .clk, .rst, .cfg_receive, .cfg_payload_crc(payload_crc_on), .cfg_commit, .cfg_framed, .fault, .rx_axis_tdata,
      .rx_axis_tvalid, .rx_axis_tuser, .m_axis_tdata, .m_axis_tkeep, .m_axis_tlast, .m_axis_tvalid, .m_axis_tready,
      .link_up, .down, .resync, .link_fell, .seen, .peer_epoch, .duplicate, .rx_sync, .rx_packet,
      .rx_bad_header, .rx_data, .rx_ack, .rx_epoch, .rx_sent, .rx_freed, .take_place, .taken_back,
      .told_depth(told_depth_now), .cut_rx, .stray, .bad_payload, .overflow
  );

  wire [31:0] lost_now = {16'd0, gap} + {16'd0, taken_back};
  always_ff @(posedge clk) begin
    words_in <= words_in + {31'd0, accepts};
    words_out <= words_out + {31'd0, take_place};
    lost_flits <= lost_flits + lost_now;
    cut_packets <= cut_packets + {31'd0, cut_tx} + {31'd0, cut_rx};
    bad_headers <= bad_headers + {31'd0, rx_bad_header};
    bad_payloads <= bad_payloads + {31'd0, bad_payload};
    stray_flits <= stray_flits + {31'd0, stray};
    stalled_cycles <= stalled_cycles + {31'd0, stalled};
    error_code <= error_code | {stray, bad_payload, rx_bad_header, cut_tx || cut_rx, lost_now != 0, overflow};
    if (rst) begin
      words_in <= 32'd0;
      words_out <= 32'd0;
      lost_flits <= 32'd0;
      cut_packets <= 32'd0;
      bad_headers <= 32'd0;
      bad_payloads <= 32'd0;
      stray_flits <= 32'd0;
      stalled_cycles <= 32'd0;
      error_code <= 6'd0;
    end
  end
endmodule
`default_nettype wire
