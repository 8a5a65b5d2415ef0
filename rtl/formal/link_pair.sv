// Bounded model check: two ends (`fm_cl_end`, as they are built) of packets of 2 flits of 128 bits, receive buffers of 4,
// over wires of latency 2. Users offer and take words in any cycle, packets close where they like, wires stall if they may.
//
// What is abstract. A word carries a bit that says whether it is the one that the solver chooses, so that order and number
// of all are checked; where some may be lost, two bits for the first and second of two. The wires damage nothing, so that
// check sums of headers are left out.
`default_nettype none
module link_pair #(
    parameter integer FAULT = 0,
    parameter integer LOSES = 0,   // the wires may lose frames
    parameter integer FALLS = 0,   // the link of end 0 may fall
    parameter integer STALLS = 0,  // the wires may stall
    parameter integer SHOW = 0     // says that the first, second or third thing that has to be possible is not
) (
    input wire       clk,
    input wire [1:0] offers,
    input wire [1:0] lasts,
    input wire [1:0] takes,
    input wire [1:0] ready,
    input wire [1:0] loses,
    input wire       is_up
);
  localparam integer D = 2, R = 4;
  (* anyconst *) wire [7:0] one, any_other;
  // Where nothing is lost one word is enough. The directions are alike unless a link falls: that from end 0 is looked at.
  wire [7:0] other = LOSES != 0 || FALLS != 0 ? any_other : 8'hFF;
  localparam integer DIRECTIONS = FALLS != 0 ? 2 : 1;
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  wire rst = !started;

  wire [127:0] tx_data[0:1], rx_data[0:1], m_data[0:1];
  wire [1:0] tx_valid, tx_first, rx_valid, rx_first, s_ready, m_valid, up, overflowed;
  wire [7:0] epoch[0:1];
  wire [2:0] on_wire[0:1];
  logic [7:0] words_in[0:1], words_out[0:1];
  logic [1:0] one_seen, other_seen, was_offered;

  wire [1:0] s_valid = (offers | was_offered);
  wire [1:0] tx_ready = STALLS != 0 ? ready : 2'b11;
  wire [1:0] link_up = {1'b1, FALLS == 0 || is_up};

  genvar i;
  generate
    for (i = 0; i < 2; i = i + 1) begin : ends
      wire [5:0] error_code;
      wire [1:0] marks = i < DIRECTIONS ? {words_in[i] == other, words_in[i] == one} : 2'd0;
      wire unused;
      fm_cl_end #(
          .W(128), .TXB(2 * D), .RXD(R)
      ) e (
          .clk, .rst, .cfg_packet(D[15:0]), .cfg_transmit(16'd4), .cfg_receive(R[15:0]), .cfg_credit(D[15:0]),
          .cfg_timeout(16'd3), .cfg_keepalive(LOSES != 0 ? 16'd12 : 16'd0), .cfg_sync_interval(16'd1),
          .cfg_sync_timeout(16'd0), .cfg_resync_errors(16'd16), .cfg_resync_window(16'd4096),
          .cfg_payload_crc(1'b0), .cfg_commit(1'b0), .cfg_framed(1'b1), .cfg_by_flit(1'b0), .fault(FAULT[4:0]),
          .link_up(link_up[i]), .s_axis_tdata({126'd0, marks}),
          .s_axis_tkeep(16'hFFFF), .s_axis_tlast(lasts[i]), .s_axis_tvalid(s_valid[i]), .s_axis_tready(s_ready[i]),
          .m_axis_tdata(m_data[i]), .m_axis_tkeep(), .m_axis_tlast(), .m_axis_tvalid(m_valid[i]),
          .m_axis_tready(takes[i]), .tx_axis_tdata(tx_data[i]), .tx_axis_tvalid(tx_valid[i]),
          .tx_axis_tready(tx_ready[i]), .tx_axis_tlast(), .tx_axis_tuser({unused, tx_first[i]}),
          .rx_axis_tdata(rx_data[i]), .rx_axis_tvalid(rx_valid[i]), .rx_axis_tuser({1'b0, rx_first[i]}), .up(up[i]),
          .epoch(epoch[i]), .words_in(), .words_out(), .lost_flits(), .cut_packets(), .bad_headers(),
          .bad_payloads(), .stray_flits(), .stalled_cycles(), .error_code
      );
      assign overflowed[i] = error_code[0];
      link_wire #(
          .CHECKS(SHOW == 0)
      ) from (
          .clk, .rst, .may_lose(LOSES != 0), .loses(loses[i]), .tx_data(tx_data[i]),
          .tx_valid(tx_valid[i] && tx_ready[i]), .tx_first(tx_first[i]), .rx_data(rx_data[1-i]),
          .rx_valid(rx_valid[1-i]), .rx_first(rx_first[1-i]), .data_flits(on_wire[i])
      );
      wire accepts = s_valid[i] && s_ready[i];
      wire delivers = m_valid[i] && takes[i];
      always_ff @(posedge clk) begin
        was_offered[i] <= s_valid[i] && !s_ready[i];
        words_in[i] <= words_in[i] + {7'd0, accepts};
        words_out[i] <= words_out[i] + {7'd0, delivers};
        if (delivers && m_data[i][0]) one_seen[i] <= 1'b1;
        if (delivers && m_data[i][1]) other_seen[i] <= 1'b1;
        if (rst) begin
          was_offered[i] <= 1'b0;
          words_in[i] <= 8'd0;
          words_out[i] <= 8'd0;
          one_seen[i] <= 1'b0;
          other_seen[i] <= 1'b0;
        end
      end
    end
  endgenerate

  // Inside of the ends, connected where yosys flattens the design.
  (* hierconn *) wire [15:0] \ends[0].e.credit , \ends[1].e.credit , \ends[0].e.rx.fill , \ends[1].e.rx.fill ;
  (* hierconn *) wire [15:0] \ends[0].e.freed , \ends[1].e.freed ;
  (* hierconn *) wire [15:0] \ends[0].e.totals.freed_by_peer , \ends[1].e.totals.freed_by_peer ;
  (* hierconn *) wire [7:0] \ends[0].e.peer_epoch , \ends[1].e.peer_epoch ;
  (* hierconn *) wire \ends[0].e.tx.closes_idle ;
  wire [15:0] credit[0:1], fill[0:1], freed[0:1], heard[0:1];
  assign {credit[1], credit[0]} = {\ends[1].e.credit , \ends[0].e.credit };
  assign {fill[1], fill[0]} = {\ends[1].e.rx.fill , \ends[0].e.rx.fill };
  assign {freed[1], freed[0]} = {\ends[1].e.freed , \ends[0].e.freed };
  assign {heard[1], heard[0]} = {\ends[1].e.totals.freed_by_peer , \ends[0].e.totals.freed_by_peer };
  wire agreed = &up && \ends[0].e.peer_epoch == epoch[1] && \ends[1].e.peer_epoch == epoch[0];

  generate
    for (i = 0; i < DIRECTIONS; i = i + 1) begin : looks
      // From end i to end 1 - i.
      wire [2:0] in_flight = on_wire[i] + {2'd0, tx_valid[i] && !tx_first[i]};
      wire [15:0] unheard = freed[1-i] - heard[i];
      wire [15:0] places = credit[i] + {13'd0, in_flight} + fill[1-i] + unheard;
      wire [1:0] marks = m_data[1-i][1:0];
      always_comb begin
        assume (one < other);
        if (!rst && SHOW == 0) begin
          // Invariant 1.
          assert (fill[1-i] <= R && !overflowed[1-i]);
          // Invariant 2.
          if (m_valid[1-i]) begin
            assert (!marks[0] || (!one_seen[1-i] && !other_seen[1-i]));
            assert (!marks[1] || !other_seen[1-i]);
            if (LOSES == 0 && FALLS == 0) assert (marks == {words_out[1-i] == other, words_out[1-i] == one});
          end
          // Invariant 3.
          if (agreed) begin
            assert (places <= R);
            if (LOSES == 0) assert (places == R);
          end
        end
      end
    end
  endgenerate

  logic sent_by_force;
  logic [7:0] first_epoch;  // in which a word came
  always_ff @(posedge clk) begin
    sent_by_force <= !rst && (sent_by_force || \ends[0].e.tx.closes_idle );
    if (words_out[1] == 0) first_epoch <= epoch[0];
  end
  // What has to be possible: no credit before a full buffer, a packet closed by its time-out, and words of a second epoch.
  always_comb begin
    if (!rst && SHOW == 1) assert (!(agreed && credit[0] == 0 && fill[1] == R));
    if (!rst && SHOW == 2) assert (!(sent_by_force && words_out[1] != 0));
    if (!rst && SHOW == 3) assert (!(agreed && words_out[1] != 0 && epoch[0] != first_epoch && fill[1] != 0));
  end
endmodule
`default_nettype wire
