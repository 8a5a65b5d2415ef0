// One end of a credit link: user words on one side, flits of a lower layer on the other, both AXI4-Stream. `rx` has no
// ready, as the credits are what keeps it from overrunning; `tx` may be stalled in any cycle. docs/credit_link.md has
// the protocol. `link_up` is the lower layer's.
`default_nettype none
module fm_credit_link #(
    parameter integer W = 256,             // bits of a flit: a multiple of 128 from 128 to 1024
    parameter integer D = 32,              // data flits of a packet at most
    parameter integer TXB = 2 * D,         // places of the transmit buffer, at least 2 D
    parameter integer RX = 512,            // places of the receive buffer, at least D + D_CU - 1
    parameter integer D_CU = D,            // credits come back when so many places are free again, at most D
    parameter integer TIMEOUT = 64,        // cycles after its last word at which an open packet is closed
    parameter integer KEEPALIVE = 0,       // longest time without a header; 0: without end
    parameter integer SYNC_INTERVAL = 1,   // from one SYNC to the next
    parameter integer SYNC_TIMEOUT = 0,    // without a peer for so long the link goes down; 0: never
    parameter integer RESYNC_ERRORS = 16,  // so many bad headers
    parameter integer RESYNC_WINDOW = 4096,  // in so many cycles begin a new epoch
    parameter integer PAYLOAD_CRC = 1,     // of flits of 256 bits and more
    parameter integer RX_COMMIT = 0,       // the user sees a packet when all of it is there and right
    parameter integer FRAMED = 1           // tuser marks the first flit of a packet
) (
    input  wire            clk,
    input  wire            rst,
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
    output wire  [   31:0] words_in,
    output wire  [   31:0] words_out,
    output wire  [   31:0] lost_flits,
    output wire  [   31:0] cut_packets,
    output wire  [   31:0] bad_headers,
    output wire  [   31:0] bad_payloads,
    output wire  [   31:0] stray_flits,
    output wire  [   31:0] stalled_cycles,
    output wire  [    5:0] error_code
);
  generate
    // Smaller buffers can leave both ends waiting for each other; there is no module of this name.
    if (RX < D + D_CU - 1 || TXB < 2 * D || D_CU < 1 || D_CU > D) begin : g_refused
      fm_credit_link_needs_RX_of_D_plus_D_CU_minus_1_and_TXB_of_2_D refused ();
    end
    if (RX > 32767 || TXB > 32767) begin : g_too_deep
      fm_credit_link_needs_RX_and_TXB_of_32767_at_most refused ();
    end
  endgenerate

  fm_cl_end #(
      .W(W), .TXB(TXB), .RXD(RX)
  ) link_end (
      .clk, .rst, .cfg_packet(16'(D)), .cfg_transmit(16'(TXB)), .cfg_receive(16'(RX)), .cfg_credit(16'(D_CU)),
      .cfg_timeout(16'(TIMEOUT)), .cfg_keepalive(16'(KEEPALIVE)), .cfg_sync_interval(16'(SYNC_INTERVAL)),
      .cfg_sync_timeout(16'(SYNC_TIMEOUT)), .cfg_resync_errors(16'(RESYNC_ERRORS)),
      .cfg_resync_window(16'(RESYNC_WINDOW)), .cfg_payload_crc(PAYLOAD_CRC != 0), .cfg_commit(RX_COMMIT != 0),
      .cfg_framed(FRAMED != 0), .cfg_by_flit(1'b0), .fault(5'd0), .link_up, .s_axis_tdata, .s_axis_tkeep,
      .s_axis_tlast, .s_axis_tvalid, .s_axis_tready, .m_axis_tdata, .m_axis_tkeep, .m_axis_tlast, .m_axis_tvalid,
      .m_axis_tready, .tx_axis_tdata, .tx_axis_tvalid, .tx_axis_tready, .tx_axis_tlast, .tx_axis_tuser, .rx_axis_tdata,
      .rx_axis_tvalid, .rx_axis_tuser, .up, .epoch, .words_in, .words_out, .lost_flits, .cut_packets, .bad_headers,
      .bad_payloads, .stray_flits, .stalled_cycles, .error_code
  );
endmodule
`default_nettype wire
