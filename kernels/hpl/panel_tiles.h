// Read by the device code and by the host.
#ifndef FABRICMARK_PANEL_TILES_H
#define FABRICMARK_PANEL_TILES_H

#define PANEL_TILES 4  // tiles of rows that a work-item of left updates at a time

#endif
