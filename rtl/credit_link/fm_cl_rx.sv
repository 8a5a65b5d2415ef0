// The receiving half: finds headers, counts the data behind them into the receive buffer, and keeps from the user what
// is not whole where packets are committed. There is no ready towards the wire: credits keep it from overrunning.
`default_nettype none
module fm_cl_rx #(
    parameter integer W = 256,
    parameter integer RXD = 512  // places of the buffer, at least cfg_receive
) (
    input  wire            clk,
    input  wire            rst,
    input  wire  [   15:0] cfg_receive,
    input  wire            cfg_payload_crc,
    input  wire            cfg_commit,
    input  wire            cfg_framed,
    input  wire  [    4:0] fault,
    input  wire  [  W-1:0] rx_axis_tdata,
    input  wire            rx_axis_tvalid,
    input  wire  [    1:0] rx_axis_tuser,  // error, first
    output logic [  W-1:0] m_axis_tdata,
    output logic [W/8-1:0] m_axis_tkeep,
    output logic           m_axis_tlast,
    output logic           m_axis_tvalid,
    input  wire            m_axis_tready,
    input  wire            link_up,
    input  wire            down,
    input  wire            resync,
    input  wire            link_fell,
    input  wire            seen,
    input  wire  [    7:0] peer_epoch,
    input  wire            duplicate,
    output logic           rx_sync,
    output logic           rx_packet,
    output logic           rx_bad_header,
    output logic           rx_data,
    output logic           rx_ack,
    output logic [    7:0] rx_epoch,
    output logic [   15:0] rx_sent,
    output logic [   15:0] rx_freed,
    output logic           take_place,
    output logic [   15:0] taken_back,
    output logic [   15:0] told_depth,
    output logic           cut_rx,
    output logic           stray,
    output logic           bad_payload,
    output logic           overflow
);
  localparam integer AW = RXD <= 2 ? 1 : $clog2(RXD);
  `include "fm_cl_functions.svh"
  localparam logic [7:0] FULL = 8'(W / 8 - 1);

  logic [W+8:0] buffer[0:RXD-1];  // last, tail, data
  logic [AW-1:0] write, read;
  logic [15:0] fill, unseen, due;
  logic discarding, hunting, wrong, head_last;
  logic [7:0] head_tail;
  logic [31:0] head_crc, crc;

  // What the flit is.
  wire valid = rx_axis_tvalid && link_up && !down;
  wire begins = valid && (cfg_framed ? rx_axis_tuser[0] : due == 0);
  wire error = rx_axis_tuser[1] && fault != 5'd13;
  wire is_header = rx_axis_tdata[31:0] == 32'h5EEDF10C && rx_axis_tdata[39:38] == 2'd0 &&
                   (rx_axis_tdata[33] ^ rx_axis_tdata[32]) && rx_axis_tdata[111:104] == 8'd0 &&
                   (rx_axis_tdata[127:112] == header_crc(rx_axis_tdata[111:0]) || fault == 5'd17);
  wire header = begins && is_header && !error;
  wire no_header = begins && !(is_header && !error);
  assign rx_sync = header && rx_axis_tdata[33:32] == 2'd1;
  assign rx_ack = rx_axis_tdata[37];
  assign rx_epoch = rx_axis_tdata[47:40];
  assign rx_sent = rx_axis_tdata[95:80];
  assign rx_freed = rx_axis_tdata[79:64];
  wire any_packet = header && rx_axis_tdata[33:32] == 2'd2;
  assign rx_packet = any_packet && seen && (rx_epoch == peer_epoch || fault == 5'd22);
  assign rx_bad_header = no_header && (cfg_framed || !hunting);
  wire any_data = valid && !begins && due != 0;
  assign rx_data = any_data && !discarding;
  assign stray = (valid && !begins && due == 0) || (any_data && discarding) || (no_header && !rx_bad_header);

  // Data.
  assign take_place = m_axis_tvalid && m_axis_tready;
  wire [15:0] fill_left = fill - {15'd0, take_place};
  wire is_full = fill_left == cfg_receive;
  wire writes = rx_data && !is_full;
  assign overflow = rx_data && is_full;
  wire ends = rx_data && due == 16'd1;
  wire [31:0] crc_now = cfg_payload_crc ? payload_crc(crc, rx_axis_tdata) : 32'd0;
  wire wrong_crc = cfg_payload_crc && crc_now != head_crc && fault != 5'd16;
  assign bad_payload = ends && (wrong || error || wrong_crc);
  wire [15:0] unseen_now = unseen + {15'd0, writes && cfg_commit};
  wire [15:0] due_now = any_packet ? rx_axis_tdata[63:48] : begins ? 16'd0 : any_data ? due - 16'd1 : due;
  wire discarding_now = any_packet ? !rx_packet || duplicate : discarding;
  assign cut_rx = resync && due_now != 0 && !discarding_now;
  // A packet that is cut, damaged, or cut by a new epoch.
  wire takes_back = (begins && due != 0) || bad_payload || cut_rx;
  assign taken_back = takes_back ? unseen_now : 16'd0;
  wire [15:0] fill_now = fill_left + {15'd0, writes} - taken_back;
  assign told_depth = cfg_receive - fill_now;  // at the start of a new epoch

  function automatic [AW-1:0] back(input [AW-1:0] place, input [15:0] count, input [15:0] size);
    back = AW'(16'(place) >= count ? 16'(place) - count : 16'(place) + size - count);
  endfunction

  wire [AW-1:0] read_now = take_place ? after(read, cfg_receive) : read;
  wire [AW-1:0] write_now = writes ? after(write, cfg_receive) : write;
  wire is_last = due == 16'd1 && head_last;
  wire [W+8:0] place = {is_last, is_last ? head_tail : FULL, rx_axis_tdata};

  // A block memory whose word is there in the cycle after its address: the next one is read ahead, and one that is just
  // written goes past it.
  logic [W+8:0] from_memory, from_wire;
  logic passes;
  wire [W+8:0] shown = passes ? from_wire : from_memory;
  always_ff @(posedge clk) begin
    if (writes) buffer[write] <= place;
    from_memory <= buffer[read_now];
    from_wire <= place;
    passes <= writes && write == read_now && !rst;
  end
  assign m_axis_tvalid = fill > unseen;
  assign m_axis_tdata = shown[W-1:0];
  assign m_axis_tlast = shown[W+8];
  always_comb begin
    integer i;
    for (i = 0; i < W / 8; i = i + 1) m_axis_tkeep[i] = i <= {24'd0, shown[W+7:W]};
  end

  always_ff @(posedge clk) begin
    if (begins) hunting <= no_header;
    due <= due_now;
    discarding <= discarding_now;
    if (rx_packet && !duplicate) begin
      head_last <= rx_axis_tdata[35];
      head_tail <= rx_axis_tdata[103:96];
      head_crc <= W >= 256 ? rx_axis_tdata[W>=256?159 : 127-:32] : 32'd0;
      wrong <= 1'b0;
      crc <= 32'd0;
    end
    if (rx_data) begin
      wrong <= wrong || error;
      crc <= crc_now;
    end
    fill <= fill_now;
    unseen <= takes_back || ends ? 16'd0 : unseen_now;
    read <= read_now;
    write <= takes_back ? back(write_now, unseen_now, cfg_receive) : write_now;
    if (resync) begin
      discarding <= 1'b1;
      hunting <= 1'b0;
      if (link_fell) due <= 16'd0;
    end
    if (rst) begin
      hunting <= 1'b0;
      due <= 16'd0;
      discarding <= 1'b0;
      wrong <= 1'b0;
      fill <= 16'd0;
      unseen <= 16'd0;
      read <= {AW{1'b0}};
      write <= {AW{1'b0}};
    end
  end
endmodule
`default_nettype wire
