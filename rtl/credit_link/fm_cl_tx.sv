// The sending half: closes packets, keeps them in a store-and-forward buffer, and shows one flit at a time to the wire.
`default_nettype none
module fm_cl_tx #(
    parameter integer W = 256,
    parameter integer TXB = 64  // places of the buffer, at least cfg_transmit
) (
    input  wire            clk,
    input  wire            rst,
    input  wire  [   15:0] cfg_packet,
    input  wire  [   15:0] cfg_transmit,
    input  wire  [   15:0] cfg_timeout,
    input  wire            cfg_payload_crc,
    input  wire            cfg_by_flit,
    input  wire  [    4:0] fault,
    input  wire  [  W-1:0] s_axis_tdata,
    input  wire  [W/8-1:0] s_axis_tkeep,
    input  wire            s_axis_tlast,
    input  wire            s_axis_tvalid,
    output logic           s_axis_tready,
    output logic [  W-1:0] tx_axis_tdata,
    output logic           tx_axis_tvalid,
    output logic           tx_axis_tfirst,
    output logic           tx_axis_tlast,
    input  wire            tx_axis_tready,
    input  wire  [    1:0] state,
    input  wire            send_sync,
    input  wire            seen,
    input  wire  [    7:0] epoch,
    input  wire  [    7:0] peer_epoch,
    input  wire  [   15:0] told_depth,
    input  wire  [   15:0] credit,
    input  wire            must_speak,
    input  wire  [   15:0] sent,
    input  wire  [   15:0] freed,
    output logic           may_send,
    output logic           take_header,
    output logic           take_credit_only,
    output logic           take_data,
    output logic           take_last,
    output logic           accepts,
    output logic           stalled
);
  localparam logic [1:0] READY = 2'd1, DATA = 2'd2;
  localparam integer AW = TXB <= 2 ? 1 : $clog2(TXB);
  `include "fm_cl_functions.svh"
  localparam logic [7:0] FULL = 8'(W / 8 - 1);

  // The bytes of a last word - 1.
  function automatic [7:0] bytes_of(input [W/8-1:0] keep);
    integer i;
    begin
      bytes_of = 8'hFF;
      for (i = 0; i < W / 8; i = i + 1) bytes_of = bytes_of + {7'd0, keep[i]};
    end
  endfunction

  logic [W-1:0] buffer[0:TXB-1];
  logic [57:0] queue[0:TXB-1];  // CRC, tail, last, first, length
  logic [AW-1:0] buffer_write, buffer_read, queue_write, queue_read;
  logic [15:0] waiting, packets, open, idle, left;
  logic [31:0] open_crc;
  logic begins_frame;

  // Packets.
  assign s_axis_tready = waiting < cfg_transmit;
  assign accepts = s_axis_tvalid && s_axis_tready;
  wire closes_full = accepts && (s_axis_tlast || open + 16'd1 == cfg_packet);
  wire closes_idle = !accepts && open != 0 && idle + (fault == 5'd14 ? 16'd0 : 16'd1) >= cfg_timeout;
  wire closes = closes_full || closes_idle;
  wire is_last = closes_full && s_axis_tlast;
  wire [7:0] tail = is_last ? bytes_of(s_axis_tkeep) : FULL;
  wire [31:0] crc = accepts && cfg_payload_crc ? payload_crc(open_crc, s_axis_tdata) : open_crc;
  wire [15:0] length = open + {15'd0, accepts};

  // What leaves.
  /* verilator lint_off UNUSEDSIGNAL */  // narrow flits have no place for the payload's CRC
  wire [57:0] oldest = queue[queue_read];
  /* verilator lint_on UNUSEDSIGNAL */
  wire [15:0] oldest_length = oldest[15:0];
  wire has_packet = packets != 0;
  wire enough = cfg_by_flit || (fault == 5'd2 ? $signed(credit) > $signed(oldest_length)
                                              : $signed(credit) >= $signed(oldest_length));
  assign may_send = !tx_axis_tvalid || tx_axis_tready || fault == 5'd18;
  assign take_header = state == READY && may_send && has_packet && enough;
  assign take_credit_only = state == READY && may_send && !take_header && must_speak;
  assign take_data = state == DATA && may_send && (!cfg_by_flit || $signed(credit) > 0);
  assign take_last = take_data && left == (fault == 5'd6 ? 16'd2 : 16'd1);
  assign stalled = may_send && ((state == READY && has_packet && !enough) || (state == DATA && !take_data));

  logic [111:0] fields;
  logic [W-1:0] header;
  always_comb begin
    fields = 112'd0;
    fields[31:0] = 32'h5EEDF10C;
    fields[33:32] = send_sync ? 2'd1 : 2'd2;
    fields[34] = take_header && oldest[16];
    fields[35] = take_header && oldest[17] && fault != 5'd15;
    fields[36] = take_credit_only;
    fields[37] = send_sync && seen;
    fields[47:40] = epoch;
    fields[63:48] = take_header ? oldest_length : 16'd0;
    fields[79:64] = send_sync ? told_depth : freed;
    fields[95:80] = send_sync ? (seen ? {8'd0, peer_epoch} : 16'd0) : sent;
    fields[103:96] = send_sync ? 8'd0 : take_header ? oldest[25:18] : FULL;
    header = {W{1'b0}};
    header[111:0] = fields;
    header[127:112] = header_crc(fields);
  end

  logic [W-1:0] header_and_crc;
  generate
    if (W >= 256) begin : g_crc
      always_comb begin
        header_and_crc = header;
        header_and_crc[159:128] = take_header ? oldest[57:26] : 32'd0;
      end
    end else begin : g_no_crc
      assign header_and_crc = header;
    end
  endgenerate

  always_ff @(posedge clk) begin
    if (accepts) buffer[buffer_write] <= s_axis_tdata;
    if (closes) queue[queue_write] <= {crc, tail, is_last, begins_frame, length};
  end

  always_ff @(posedge clk) begin
    if (accepts) buffer_write <= after(buffer_write, cfg_transmit);
    if (closes) begin
      queue_write <= after(queue_write, cfg_transmit);
      begins_frame <= is_last;
    end
    open <= closes ? 16'd0 : length;
    open_crc <= closes ? 32'd0 : crc;
    idle <= closes || accepts || open == 0 ? 16'd0 : idle + 16'd1;
    waiting <= waiting + {15'd0, accepts} - {15'd0, take_data};
    packets <= packets + {15'd0, closes} - {15'd0, take_header};
    if (take_header) begin
      left <= oldest_length;
      queue_read <= after(queue_read, cfg_transmit);
    end
    if (take_data) begin
      left <= left - 16'd1;
      buffer_read <= after(buffer_read, fault == 5'd12 ? cfg_transmit - 16'd1 : cfg_transmit);
    end
    if (may_send) begin
      tx_axis_tvalid <= send_sync || take_header || take_credit_only || take_data;
      tx_axis_tfirst <= !take_data;
      tx_axis_tlast <= take_data ? left == 16'd1 : !take_header;
      tx_axis_tdata <= take_data ? buffer[buffer_read] : header_and_crc;
    end
    if (rst) begin
      buffer_write <= {AW{1'b0}};
      buffer_read <= {AW{1'b0}};
      queue_write <= {AW{1'b0}};
      queue_read <= {AW{1'b0}};
      waiting <= 16'd0;
      packets <= 16'd0;
      open <= 16'd0;
      idle <= 16'd0;
      left <= 16'd0;
      open_crc <= 32'd0;
      begins_frame <= 1'b1;
      tx_axis_tvalid <= 1'b0;
    end
  end
endmodule
`default_nettype wire
