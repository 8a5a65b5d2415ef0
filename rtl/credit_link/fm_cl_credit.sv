// The totals of an end: what was sent and what the peer has freed of it, what was freed here and what the peer was told
// of it; and when a header without data is due. Totals are modulo 2^16, their differences signed.
`default_nettype none
module fm_cl_credit (
    input  wire         clk,
    input  wire         rst,
    input  wire  [15:0] cfg_receive,
    input  wire  [15:0] cfg_credit,
    input  wire  [15:0] cfg_keepalive,
    input  wire  [ 4:0] fault,
    input  wire         resync,
    input  wire         becomes_ready,
    input  wire         draining,
    // What was sent in this cycle.
    input  wire         take_header,      // with data
    input  wire         take_credit_only,
    input  wire         take_data,
    // What came in this cycle, and what was taken of the receive buffer.
    input  wire         rx_packet,        // a header of the peer's present epoch
    input  wire  [15:0] rx_sent,
    input  wire  [15:0] rx_freed,
    input  wire         rx_data,          // a data flit that counts
    input  wire         take_place,
    input  wire  [15:0] taken_back,       // flits that the user will never see
    input  wire         owe_header,
    input  wire  [15:0] peer_depth,
    output logic [15:0] credit,
    output logic        must_speak,
    output logic [15:0] sent,
    output logic [15:0] freed,
    output logic [15:0] gap,
    output logic        duplicate
);
  logic [15:0] told, freed_by_peer, expected, since_header;
  logic owes;

  assign credit = peer_depth - (sent - freed_by_peer) + (fault == 5'd1 ? 16'd1 : 16'd0);
  wire [15:0] untold = freed - told;
  wire [15:0] since = since_header == 16'hFFFF ? since_header : since_header + 16'd1;
  wire credits_due = fault == 5'd7 ? untold > cfg_credit : untold >= cfg_credit;
  wire keepalive_due = cfg_keepalive != 0 && since >= cfg_keepalive && fault != 5'd9;
  assign must_speak = (owes || credits_due || keepalive_due) && fault != 5'd8;

  wire [15:0] difference = rx_sent - expected;
  assign duplicate = difference[15];
  wire counts = rx_packet && !duplicate;
  assign gap = counts ? difference : 16'd0;
  wire older = 16'(rx_freed - freed_by_peer) >= 16'h8000;
  wire [15:0] sent_now = sent + (take_data && !draining && fault != 5'd3 ? 16'd1 : 16'd0);
  // What lay in the peer's buffer when the epoch began was not sent in it, and comes back all the same.
  wire [15:0] beyond_sent = rx_freed - sent_now;
  wire can_be = $signed(beyond_sent) <= $signed(cfg_receive - peer_depth);
  wire speaks = take_header || take_credit_only;

  always_ff @(posedge clk) begin
    since_header <= speaks || becomes_ready ? 16'd0 : since;
    owes <= (owes && !speaks) || owe_header;
    if (speaks && !(fault == 5'd10 && take_credit_only)) told <= freed;
    sent <= sent_now;
    if (rx_packet && !older && can_be) freed_by_peer <= rx_freed;
    if (counts && fault != 5'd11) expected <= rx_sent;
    else if (rx_data) expected <= expected + 16'd1;
    freed <= freed + (take_place ? (fault == 5'd5 ? 16'd2 : 16'd1) : 16'd0) + (fault == 5'd4 ? 16'd0 : gap) +
             (fault == 5'd19 ? 16'd0 : taken_back);
    if (resync) begin
      owes <= 1'b0;
      if (fault != 5'd20) sent <= 16'd0;
      freed <= 16'd0;
      told <= 16'd0;
      freed_by_peer <= 16'd0;
      expected <= 16'd0;
    end
    if (rst) begin
      since_header <= 16'd0;
      owes <= 1'b0;
      sent <= 16'd0;
      freed <= 16'd0;
      told <= 16'd0;
      freed_by_peer <= 16'd0;
      expected <= 16'd0;
    end
  end
endmodule
`default_nettype wire
