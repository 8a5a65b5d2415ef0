"""Files of depths as others publish them, of one made-up sea, and what a run on a grid leaves."""

import json

import numpy
from fabricmark.grids import cut, plane
from fabricmark.grids.cut import Wanted
from scipy.io import netcdf_file


def height(longitude, latitude):
    """Above the sea [m], of all the globe: a coast at some 141 degrees east, a trench and an island."""
    east = longitude - 141 - 0.15 * (latitude - 38)
    sea = -5500 * numpy.tanh(east / 3) - 2500 * numpy.exp(-(((east - 3) / 1.5) ** 2))
    islands = 7000 * numpy.exp(-(((longitude - 150) / 2) ** 2) - ((latitude - 35) / 2) ** 2)
    return numpy.where(numpy.abs(east) < 90, sea + islands, -4000.0)


def write_grid(
    path, longitude, latitude, values, name="elevation", axes=("lon", "lat"), code="f", **attributes
):  # fmt: skip
    """`values` [latitudes][longitudes] in a classic file."""
    with netcdf_file(path, "w") as file:
        for axis, places, units in (
            (axes[1], latitude, "degrees_north"),
            (axes[0], longitude, "degrees_east"),
        ):
            file.createDimension(axis, len(places))
            made = file.createVariable(axis, "d", (axis,))
            made[:] = places
            if units:
                made.units = units
        made = file.createVariable(name, code, (axes[1], axes[0]))
        made[:] = values
        for key, value in attributes.items():
            setattr(made, key, value)
    return path


def write_gebco(path, west=130.0, east=160.0, south=25.0, north=50.0, spacing=0.25):
    """As GEBCO's: whole metres above the sea, cells' middles, longitudes from -180 to 180."""
    longitude = numpy.arange(west + spacing / 2, east, spacing)
    latitude = numpy.arange(south + spacing / 2, north, spacing)
    values = numpy.rint(height(*numpy.meshgrid(longitude, latitude)))
    return write_grid(
        path, longitude, latitude, values, code="h",
        standard_name="height_above_mean_sea_level", units="m", long_name="Elevation relative to sea level",
    )  # fmt: skip


def write_sea(path, lifted=True, columns=40, shift=0.0, window=((138, 150), (32, 40))):
    """A plane grid off a coast, of 40 x 33 cells; the water is lifted in one place. `shift`: of depths."""
    source = write_gebco(path.with_name("gebco.nc"))
    longitude, latitude = window
    made = cut.cut(source, Wanted(longitude=longitude, latitude=latitude, columns=columns))
    rows, columns = made.depth.shape
    x, y = numpy.meshgrid(numpy.arange(columns), numpy.arange(rows))
    elevation = 2 * numpy.exp(-(((x - 26) / 2) ** 2) - ((y - 16) / 2) ** 2)
    plane.write(path, made.frame, made.depth + shift, elevation if lifted else None, "a test")
    return path


def write_run(folder, columns=24, rows=16, degrees=(140.0, 152.0, 32.0, 40.0), snapshots=3):
    """A folder of --fields: a ring that widens, land in the west."""
    folder.mkdir(parents=True, exist_ok=True)
    x, y = numpy.meshgrid(numpy.arange(columns), numpy.arange(rows))
    depth = numpy.where(x < 4, 0, 4000).astype("f4")
    away = numpy.hypot(x - columns / 2, y - rows / 2)
    arrival = numpy.where((depth > 0) & (away < columns / 2 - 1), 60 * away + 1, numpy.nan)
    fields = {"depth": depth, "largest": 2 / (1 + away), "arrival": arrival, "elevation": numpy.sin(away)}
    listed = []
    for number in range(snapshots):
        listed.append({"file": f"elevation_{number:08}.npy", "step": number, "time_s": 600.0 * number})
        fields[f"elevation_{number:08}"] = numpy.exp(-((away - 3 * number) ** 2))
    for name, values in fields.items():
        numpy.save(folder / f"{name}.npy", numpy.where(depth > 0, values, 0).astype("f4"))
    document = {
        "schema": "fabricmark-grid-1", "case": "ocean", "columns": columns, "rows": rows, "dx_m": 4e4,
        "dy_m": 5e4, "degrees": None if degrees is None else list(degrees), "time_s": 1200.0,
        "snapshots": listed,
    }  # fmt: skip
    (folder / "grid.json").write_text(json.dumps(document))
    lines = ["time_s,station,x_m,y_m,xi_m,u_m_per_s,v_m_per_s"]
    for time in range(0, 1200, 60):
        lines.append(f"{time},buoy,420000,325000,{numpy.sin(time / 200)},0.1,0")
        lines.append(f"{time},port-2,900000,725000,{numpy.cos(time / 200)},0,0")
    (folder / "stations.csv").write_text("\n".join(lines) + "\n")
    return folder
