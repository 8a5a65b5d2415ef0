// The states of an end of a credit link: SYNC until the peer is known, READY and DATA, DOWN; and when a new epoch
// begins. `state` and `draining` are those at the start of a cycle.
`default_nettype none
module fm_cl_sync (
    input  wire         clk,
    input  wire         rst,
    input  wire  [15:0] cfg_sync_interval,
    input  wire  [15:0] cfg_sync_timeout,
    input  wire  [15:0] cfg_resync_errors,
    input  wire  [15:0] cfg_resync_window,
    input  wire  [ 4:0] fault,
    input  wire         link_up,
    // What was sent in this cycle.
    input  wire         may_send,
    input  wire         take_header,
    input  wire         take_last,
    // What came in this cycle.
    input  wire         rx_sync,
    input  wire         rx_ack,
    input  wire  [ 7:0] rx_epoch,
    input  wire  [ 7:0] rx_acked_epoch,
    input  wire  [15:0] rx_depth,
    input  wire         rx_packet,
    input  wire         rx_bad_header,
    output logic [ 1:0] state,
    output logic        draining,
    output logic        up,
    output logic        send_sync,
    output logic        seen,
    output logic [ 7:0] epoch,
    output logic [ 7:0] peer_epoch,
    output logic [15:0] peer_depth,
    output logic        owe_header,
    output logic        becomes_ready,
    output logic        resync,
    output logic        link_fell,
    output logic        cut_tx
);
  localparam logic [1:0] SYNC = 2'd0, READY = 2'd1, DATA = 2'd2, DOWN = 2'd3;

  logic was_up, has_ack;
  logic [15:0] sync_wait, sync_cycles, errors, window;

  assign up = (state == READY || state == DATA) && !draining;
  assign send_sync = state == SYNC && may_send && link_up && sync_wait == 0;
  assign link_fell = was_up && !link_up;

  // After what was sent.
  logic [1:0] state_sent;
  logic draining_sent;
  always_comb begin
    state_sent = state;
    draining_sent = draining;
    if (take_header) state_sent = DATA;
    if (take_last) begin
      state_sent = draining ? SYNC : READY;
      draining_sent = 1'b0;
    end
  end

  wire syncing = state == SYNC || draining;
  wire acknowledges = rx_ack && rx_acked_epoch == epoch;
  wire stays = !syncing && acknowledges && rx_epoch == peer_epoch;
  wire new_peer = rx_sync && !syncing && !stays;
  assign owe_header = rx_sync && stays;

  wire [15:0] window_left = window == 0 ? 16'd0 : window - 16'd1;
  wire [15:0] errors_left = window == 16'd1 ? 16'd0 : errors;
  wire counts_error = rx_bad_header && up;
  wire too_many = counts_error && errors_left + 16'd1 >= cfg_resync_errors;
  assign resync = (new_peer || too_many || link_fell) && state != DOWN;
  assign cut_tx = resync && state_sent == DATA && !draining_sent;

  wire takes_sync = rx_sync && !stays;
  wire seen_now = seen || takes_sync;
  wire ack_now = takes_sync ? acknowledges : has_ack;
  assign becomes_ready = !resync && state_sent == SYNC && seen_now && (ack_now || rx_packet);
  wire times_out = state_sent == SYNC && cfg_sync_timeout != 0 && !seen_now &&
                   sync_cycles + 16'd1 >= cfg_sync_timeout;

  always_ff @(posedge clk) begin
    was_up <= link_up;
    if (takes_sync) begin
      peer_epoch <= rx_epoch;
      peer_depth <= rx_depth;
    end
    seen <= seen_now;
    has_ack <= ack_now || (draining_sent && rx_packet);
    state <= becomes_ready ? READY : times_out ? DOWN : state_sent;
    draining <= draining_sent;
    if (state == SYNC && may_send && link_up)
      sync_wait <= sync_wait == 0 ? cfg_sync_interval - 16'd1 : sync_wait - 16'd1;
    if (state_sent == SYNC && sync_cycles != 16'hFFFF) sync_cycles <= sync_cycles + 16'd1;
    window <= counts_error && window_left == 0 ? cfg_resync_window : window_left;
    errors <= counts_error ? errors_left + 16'd1 : errors_left;
    if (resync) begin
      state <= state_sent == DATA ? DATA : SYNC;
      draining <= state_sent == DATA;
      seen <= new_peer;
      has_ack <= 1'b0;
      epoch <= fault == 5'd21 ? epoch : epoch + 8'd1;
      sync_wait <= 16'd0;
      sync_cycles <= 16'd0;
      errors <= 16'd0;
      window <= 16'd0;
    end
    if (rst) begin
      state <= SYNC;
      draining <= 1'b0;
      was_up <= 1'b1;
      seen <= 1'b0;
      has_ack <= 1'b0;
      epoch <= 8'd0;
      peer_epoch <= 8'd0;
      peer_depth <= 16'd0;
      sync_wait <= 16'd0;
      sync_cycles <= 16'd0;
      errors <= 16'd0;
      window <= 16'd0;
    end
  end
endmodule
`default_nettype wire
