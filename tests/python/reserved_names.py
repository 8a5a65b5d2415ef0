"""Words of the languages that vendors' tools write: a port of that name gets another one, as `in_r` for `in`.

Sources: IEEE 1364-2005, Annex B; IEEE 1076-2002, section 13.9. VHDL does not tell capitals apart.
"""

VERILOG = """
always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config deassign default
defparam design disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive
endspecify endtable endtask event for force forever fork function generate genvar highz0 highz1 if ifnone
incdir include initial inout input instance integer join large liblist library localparam macromodule
medium module nand negedge nmos nor noshowcancelled not notif0 notif1 or output parameter pmos posedge
primitive pull0 pull1 pulldown pullup pulsestyle_onevent pulsestyle_ondetect rcmos real realtime reg
release repeat rnmos rpmos rtran rtranif0 rtranif1 scalared showcancelled signed small specify specparam
strong0 strong1 supply0 supply1 table task time tran tranif0 tranif1 tri tri0 tri1 triand trior trireg
unsigned use uwire vectored wait wand weak0 weak1 while wire wor xnor xor
"""
VHDL = """
abs access after alias all and architecture array assert attribute begin block body buffer bus case
component configuration constant disconnect downto else elsif end entity exit file for function generate
generic group guarded if impure in inertial inout is label library linkage literal loop map mod nand new
next nor not null of on open or others out package port postponed procedure process protected pure range
record register reject rem report return rol ror select severity signal shared sla sll sra srl subtype
then to transport type unaffected units until use variable wait when while with xnor xor
"""


def is_reserved(name):
    return name in VERILOG.split() or name.lower() in VHDL.split()
