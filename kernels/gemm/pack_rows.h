// Read by the device code and by the host.
#ifndef FABRICMARK_PACK_ROWS_H
#define FABRICMARK_PACK_ROWS_H

#define PACK_ROWS \
  64  // rows of b that a work-item packs: so few that all their pages are known to the processor

#endif
