// Proof by induction: the totals of two ends (`fm_cl_credit`, both as they are built) never give the sender more credits
// than there are places, and none is missing for ever. `sender` sends data, `receiver` answers by headers; the other
// direction of data is left out, as an end's totals of the two directions do not meet.
//
// What is abstract. The wires: of data, a count of flits in flight, any of which may come, get lost or wait in any cycle;
// headers come with any SENT that tells of lost flits only, or again; of credits, any FREED that was told before. So both
// have any latency, lose and repeat frames, and that of credits swaps them too. The buffers: counts. The sender: headers
// where credit >= LEN, then LEN flits with any pauses. New epochs begin at both ends at once, at any time.
`default_nettype none
module credit_totals #(
    parameter integer FAULT = 0,
    parameter integer DEPTH = 0,  // with these three at 0, they are any that a link may have
    parameter integer PACKET = 0,
    parameter integer RETURNED = 0,
    parameter integer PART = -1
) (
    input wire        clk,
    input wire        new_epoch,
    // Choices of the sender, of the wire to the receiver, of the receiver and its user, of the wire back.
    input wire        begins_packet,
    input wire [15:0] length,
    input wire        sends_data,
    input wire        loses,
    input wire        data_comes,
    input wire        header_comes,
    input wire [15:0] header_sent,
    input wire        reads,
    input wire        takes_back,
    input wire        speaks_with_data,
    input wire        speaks_alone,
    input wire        syncs,
    input wire        hears,
    input wire [15:0] heard
);
  (* anyconst *) wire [15:0] any_depth, any_packet, any_returned, keepalive;
  wire [15:0] depth = DEPTH != 0 ? DEPTH[15:0] : any_depth;
  wire [15:0] packet = PACKET != 0 ? PACKET[15:0] : any_packet;
  wire [15:0] returned = RETURNED != 0 ? RETURNED[15:0] : any_returned;
  localparam logic [4:0] fault = FAULT[4:0];

  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  wire rst = !started;

  // What nobody but the proof counts.
  logic [15:0] left = 0, wire_flits = 0, lost = 0, fill = 0, fill_at_start = 0, told_last = 0, believed = 0;
  logic [15:0] silent = 0;
  logic draining = 0, discarding = 1, owes = 0;

  wire [15:0] credit, sent, freed, gap, peer_gap, sender_freed;
  wire duplicate, sender_duplicate, must_speak, sender_must_speak;
  wire resync = new_epoch;
  wire [15:0] offered = depth - fill_at_start;

  wire take_header = left == 0 && !rst && begins_packet && length != 0 && length <= packet &&
                     $signed(credit) >= $signed(length);
  wire take_data = left != 0 && sends_data;
  wire counts_sent = take_data && !draining;
  wire is_lost = loses && wire_flits != 0;
  wire is_duplicate = 16'(header_sent - receiver_expected) >= 16'h8000;
  wire rx_packet = header_comes && (is_duplicate || 16'(header_sent - receiver_expected) <= lost);
  wire rx_data = data_comes && !header_comes && !discarding && wire_flits != 0 && !is_lost;
  wire take_place = reads && fill != 0;
  wire [15:0] taken_back = takes_back && fill != 0 && !take_place ? 16'd1 : 16'd0;
  wire speaks = speaks_with_data || speaks_alone;
  wire is_heard = hears && 16'(told_last - heard) < 16'h8000;
  wire is_newer = 16'(heard - believed) < 16'h8000;
  wire [15:0] told_gap = rx_packet && !is_duplicate ? header_sent - receiver_expected : 16'd0;
  wire [15:0] fill_now = fill + {15'd0, rx_data} - {15'd0, take_place} - taken_back;
  wire [15:0] left_now = take_header ? length : take_data ? left - 16'd1 : left;

  fm_cl_credit sender (
      .clk, .rst, .cfg_receive(depth), .cfg_credit(returned), .cfg_keepalive(16'd0), .fault, .resync,
      .becomes_ready(1'b0), .draining, .take_header, .take_credit_only(1'b0), .take_data, .rx_packet(is_heard),
      .rx_sent(16'd0), .rx_freed(heard), .rx_data(1'b0), .take_place(1'b0), .taken_back(16'd0), .owe_header(1'b0),
      .peer_depth(offered), .credit, .must_speak(sender_must_speak), .sent, .freed(sender_freed), .gap(peer_gap),
      .duplicate(sender_duplicate)
  );
  wire [15:0] receiver_credit, receiver_sent;
  fm_cl_credit receiver (
      .clk, .rst, .cfg_receive(depth), .cfg_credit(returned), .cfg_keepalive(keepalive), .fault, .resync,
      .becomes_ready(1'b0), .draining(1'b0), .take_header(speaks_with_data),
      .take_credit_only(speaks_alone && !speaks_with_data), .take_data(1'b0), .rx_packet, .rx_sent(header_sent),
      .rx_freed(16'd0), .rx_data, .take_place, .taken_back, .owe_header(syncs), .peer_depth(depth),
      .credit(receiver_credit), .must_speak, .sent(receiver_sent), .freed, .gap, .duplicate
  );
  // Registers inside of the ends, connected where yosys flattens the design.
  (* hierconn *) wire [15:0] \sender.freed_by_peer , \sender.expected , \receiver.expected , \receiver.told ;
  (* hierconn *) wire [15:0] \receiver.since_header , \receiver.freed_by_peer ;
  (* hierconn *) wire \receiver.owes ;
  wire [15:0] receiver_expected = \receiver.expected ;
  wire [15:0] freed_by_peer = \sender.freed_by_peer ;
  wire [15:0] told = \receiver.told ;

  always_ff @(posedge clk) begin
    left <= left_now;
    if (left_now == 0) draining <= 1'b0;
    wire_flits <= wire_flits + {15'd0, counts_sent} - {15'd0, rx_data} - {15'd0, is_lost};
    lost <= lost + {15'd0, is_lost} - told_gap;
    fill <= fill_now;
    if (rx_packet) discarding <= is_duplicate;
    if (speaks) told_last <= freed;
    if (is_heard && is_newer) believed <= heard;
    silent <= speaks ? 16'd0 : silent == 16'hFFFF ? silent : silent + 16'd1;
    owes <= (owes && !speaks) || syncs;
    if (resync || rst) begin
      draining <= left_now != 0;
      wire_flits <= 16'd0;
      lost <= 16'd0;
      fill_at_start <= fill_now;
      discarding <= 1'b1;
      told_last <= 16'd0;
      believed <= 16'd0;
      owes <= 1'b0;
    end
    if (rst) begin
      left <= 16'd0;
      draining <= 1'b0;
      fill <= 16'd0;
      fill_at_start <= 16'd0;
      silent <= 16'd0;
    end
  end

  // The places of the receiver in the order in which flits go through them, from the last that the sender knows to be
  // free: told and in flight, free and not told, filled, lost and not yet known to be, on the wire, credits.
  wire [15:0] told_under_way = told_last - freed_by_peer;
  wire [15:0] untold = freed - told_last;
  wire [16:0] to_freed = {1'b0, told_under_way} + {1'b0, untold};
  wire [16:0] to_filled = to_freed + {1'b0, fill};
  wire [16:0] to_lost = to_filled + {1'b0, lost};
  wire [16:0] to_sent = to_lost + {1'b0, wire_flits};
  wire [16:0] all_places = to_sent + {1'b0, credit};
  wire [16:0] limit = {1'b0, depth};

  wire keepalive_due = keepalive != 0 && silent >= keepalive - 16'd1;
  wire is_due = owes || untold >= returned || keepalive_due;

  // Each is shown from all of them in the cycle before, and from those that stand below it here in the same cycle.
  localparam integer PARTS = 21;
  wire [PARTS-1:0] holds = {
    // Invariant 3: at rest, with loss, and with what was lost and is not yet known.
    lost != 0 || wire_flits != 0 || to_freed != 0 || credit + fill == depth,
    all_places - {1'b0, lost} <= limit,
    all_places == limit,
    // Invariant 1.
    fill <= depth,
    // What they follow from: no part is negative, and each total is what it says.
    draining || credit >= left,
    to_sent[15:0] == 16'(sent + fill_at_start - freed_by_peer),
    wire_flits <= depth && lost <= depth && untold <= depth && told_under_way <= depth,
    to_sent <= limit,
    to_lost <= limit,
    to_filled[15:0] == 16'(receiver_expected + fill_at_start - freed_by_peer),
    to_filled <= limit,
    to_freed <= limit,
    16'(freed + fill) == 16'(receiver_expected + fill_at_start),
    sent == 16'(receiver_expected + wire_flits + lost),
    fill_at_start <= depth,
    told == told_last && freed_by_peer == believed,
    gap == told_gap && duplicate == is_duplicate,
    \sender.expected == 0 && \receiver.freed_by_peer == 0 && receiver_sent == 0,
    \receiver.since_header == silent,
    \receiver.owes == owes,
    // A header is due exactly where it has to be.
    must_speak == is_due
  };
  localparam logic [PARTS-1:0] HERE = PART < 0 ? {PARTS{1'b1}} : 1 << PART;
  localparam logic [PARTS-1:0] BELOW = PART < 0 ? 0 : (1 << PART) - 1;
  logic held = 1'b1;
  always_ff @(posedge clk) held <= rst || &holds;

  always_comb begin
    assume (depth <= 16'h7FFF && packet != 0 && returned != 0 && returned <= packet);
    assume ({1'b0, depth} >= {1'b0, packet} + {1'b0, returned} - 17'd1);
    if (PART >= 0) assume (held);
    if (!rst) begin
      assume (&(holds | ~BELOW));
      assert (&(holds | ~HERE));
      cover (credit == 0 && fill == depth);
      cover (lost != 0 && credit == 0 && wire_flits == 0 && fill == 0);
      cover (fill_at_start != 0 && believed > sent);
    end
  end
endmodule
`default_nettype wire
