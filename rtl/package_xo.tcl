# Packages one end of a credit link as a kernel for Vitis, by the flow that UG1393 documents for RTL kernels:
#   vivado -mode batch -source rtl/package_xo.tcl -tclargs [build/fm_credit_link.xo] [PART]
# UNTESTED: no Vivado has run this script.
set rtl [file dirname [file normalize [info script]]]
set xo [file normalize [expr {$argc > 0 ? [lindex $argv 0] : "build/fm_credit_link.xo"}]]
set part [expr {$argc > 1 ? [lindex $argv 1] : "xcu280-fsvh2892-2L-e"}]
set kernel fm_kernel_credit_link
set work [file rootname $xo]_package

file delete -force $work $xo
file mkdir [file dirname $xo]
create_project -force -part $part $kernel $work/project
add_files [concat [glob $rtl/credit_link/*.sv] [glob $rtl/credit_link/*.svh] [list $rtl/wrappers/$kernel.sv]]
set_property file_type {Verilog Header} [get_files *.svh]
set_property top $kernel [current_fileset]
update_compile_order -fileset sources_1

ipx::package_project -root_dir $work/ip -vendor fabricmark -library kernel -taxonomy /KernelIP \
    -import_files -set_current true
set core [ipx::current_core]
set_property sdx_kernel true $core
set_property sdx_kernel_type rtl $core
foreach stream {s_axis m_axis tx_axis rx_axis} {
  ipx::associate_bus_interfaces -busif $stream -clock ap_clk $core
}
ipx::associate_bus_interfaces -clock ap_clk -reset ap_rst_n $core
set_property xpm_libraries {} $core
set_property supported_families {} $core
set_property auto_family_support_level level_2 $core
ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity -kernel $core
ipx::save_core $core
close_project -delete

package_xo -xo_path $xo -kernel_name $kernel -ip_directory $work/ip -ctrl_protocol ap_ctrl_none
