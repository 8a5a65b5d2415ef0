// Tsunamis: shallow water on a grid, by one of two schemes.
#ifndef FABRICMARK_TSUNAMI_CELL_H
#define FABRICMARK_TSUNAMI_CELL_H

#include "common/dialect.h"

// Numbers of a cell: elevation of the water, and where there is none of the ground, above still water [m],
// speed to the east and to the north [m/s], depth of the ground below still water [m], the largest elevation
// so far, and when the wave came: so many steps after the start, or while it has not come, less the steps so
// far. A scheme may have more.
#define TS_ELEVATION 0
#define TS_EAST 1
#define TS_NORTH 2
#define TS_DEPTH 3
#define TS_LARGEST 4
#define TS_ARRIVAL 5

// Kinds of cells: land reflects; beyond the edge of the grid there may be still water, into which waves
// leave.
#define TS_WATER 0
#define TS_LAND 1
#define TS_OPEN 2
#define TS_EDGE_open TS_OPEN
#define TS_EDGE_wall TS_LAND
#if defined(EDGES)
#define FM_EDGE_KIND FM_PASTE(TS_EDGE_, EDGES)
#endif

#define TS_SCHEME_splitting 0
#define TS_SCHEME_finite_volume 1
#if !defined(SCHEME)
#define SCHEME splitting
#endif

// On the sphere a cell has the tangent of its latitude, too.
#define TS_COORDINATES_plane 0
#define TS_COORDINATES_sphere 1
#if !defined(COORDINATES)
#define COORDINATES plane
#endif
#define TS_IS_SPHERE FM_PASTE(TS_COORDINATES_, COORDINATES)

#if FM_PASTE(TS_SCHEME_, SCHEME)

// Between the phases of a step a cell has its slopes, too: its differences from west to east, and from south
// to north, of the elevation, the water's height, and the speeds along and across; else they are 0.
#define FM_FIELDS 14
#define FM_PHASES 2
#define TS_SLOPES_EAST 6
#define TS_SLOPES_NORTH 10

#define FM_CONSTANTS 5
#define TS_RATIO_X 0  // dt / dx [s/m]
#define TS_RATIO_Y 1
#define TS_GRAVITY 2    // [m/s^2]
#define TS_WET 3        // height of water that moves [m]
#define TS_THRESHOLD 4  // elevation of a wave that has come [m]

#else

#if TS_IS_SPHERE
#define FM_FIELDS 7
#define TS_TANGENT 6
#define FM_CONSTANTS 11
#else
#define FM_FIELDS 6
#define FM_CONSTANTS 7
#endif
#define TS_HALF_X 0  // dt / (2 dx) [s/m], on the sphere at the equator
#define TS_HALF_Y 1
#define TS_GRAVITY 2      // [m/s^2]
#define TS_PER_GRAVITY 3  // 1 / (16 gravity)
#define TS_THRESHOLD 4    // elevation of a wave that has come [m]
#define TS_MOST_X 5       // speeds that a step is stable with [m/s], on the sphere at the equator
#define TS_MOST_Y 6
#if TS_IS_SPHERE
#define TS_ANGLE_X 7  // from a column to the next [radians]
#define TS_ANGLE_Y 8  // from a row to the next
#define TS_SPIN 9     // twice the speed of the turning equator [m/s]
#define TS_CURVE 10   // dt / (2 radius) [s/m]
#endif

#endif

#include "common/stencil/window.h"

#if FM_PASTE(TS_SCHEME_, SCHEME)
#include "tsunami/finite_volume.h"
#else
#include "tsunami/splitting.h"
#endif

#include "common/stencil/engine.h"

#endif
