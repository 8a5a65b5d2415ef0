// A wire of two slots for proofs, which loses frames where it may. It keeps of a flit what differs from one to another, and
// holds that the rest is what it says: of headers the magic, of totals the bits above the eighth, of data all but two bits.
`default_nettype none
module link_wire #(
    parameter integer CHECKS = 1
) (
    input  wire         clk,
    input  wire         rst,
    input  wire         may_lose,
    input  wire         loses,
    input  wire [127:0] tx_data,
    input  wire         tx_valid,
    input  wire         tx_first,
    output wire [127:0] rx_data,
    output wire         rx_valid,
    output wire         rx_first,
    output wire [  2:0] data_flits
);
  logic [49:0] slots[0:1];
  logic [1:0] valid, first;
  logic losing;
  wire drops = may_lose && (tx_first ? loses : losing);
  wire [47:0] header = {tx_data[103:96], tx_data[87:80], tx_data[71:64], tx_data[55:48], tx_data[47:40], tx_data[39:32]};
  wire [49:0] shown = slots[1];
  assign rx_valid = valid[1];
  assign rx_first = first[1];
  assign rx_data = first[1] ? {16'hFFFF, 8'd0, shown[47:40], 8'd0, shown[39:32], 8'd0, shown[31:24], 8'd0, shown[23:16],
                               shown[15:8], shown[7:0], 32'h5EEDF10C} : {126'd0, shown[1:0]};
  assign data_flits = {2'd0, valid[0] && !first[0]} + {2'd0, valid[1] && !first[1]};
  always_ff @(posedge clk) begin
    if (tx_valid && tx_first) losing <= loses;
    slots[0] <= tx_first ? {2'd0, header} : {48'd0, tx_data[1:0]};
    first[0] <= tx_first;
    valid[0] <= tx_valid && !drops;
    slots[1] <= slots[0];
    first[1] <= first[0];
    valid[1] <= valid[0];
    if (rst) begin
      valid <= 2'd0;
      losing <= 1'b0;
    end
  end
  wire [127:0] kept = tx_first ? {16'hFFFF, 8'd0, header[47:40], 8'd0, header[39:32], 8'd0, header[31:24], 8'd0,
                                  header[23:16], header[15:8], header[7:0], 32'h5EEDF10C} : {126'd0, tx_data[1:0]};
  always_comb if (CHECKS != 0 && !rst && tx_valid) assert (tx_data == kept);
endmodule
`default_nettype wire
