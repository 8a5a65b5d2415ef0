// What both halves of an end compute; included inside of modules that define W, and AW, the bits of a place.

// CRC-16/CCITT-FALSE over bits 111:0, byte 0 first, of each byte the highest bit first.
function automatic [15:0] header_crc(input [111:0] bits);
  integer i, k;
  reg top;
  begin
    header_crc = 16'hFFFF;
`ifndef FM_ANY_HEADER_CRC  // proofs whose wires damage nothing need no check sums
    for (i = 0; i < 14; i = i + 1)
      for (k = 7; k >= 0; k = k - 1) begin
        top = header_crc[15] ^ bits[8 * i + k];
        header_crc = {header_crc[14:0], 1'b0} ^ (top ? 16'h1021 : 16'h0);
      end
`endif
  end
endfunction

// CRC-32 of IEEE 802.3: that of all flits before, and of this one.
function automatic [31:0] payload_crc(input [31:0] so_far, input [W-1:0] bits);
  integer i;
  reg low;
  begin
    payload_crc = ~so_far;
    for (i = 0; i < W; i = i + 1) begin
      low = payload_crc[0] ^ bits[i];
      payload_crc = {1'b0, payload_crc[31:1]} ^ (low ? 32'hEDB88320 : 32'h0);
    end
    payload_crc = ~payload_crc;
  end
endfunction

// The next place of a buffer of that size.
function automatic [AW-1:0] after(input [AW-1:0] place, input [15:0] size);
  after = 16'(place) + 16'd1 == size ? {AW{1'b0}} : place + 1'b1;
endfunction
