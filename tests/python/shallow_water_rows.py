"""What the device design of shallow water is compared with."""

from fabricmark import systems
from fabricmark.models.shallow_water import device


def path_of(transport):
    """What an exchange takes on Noctua 2."""
    system = systems.load("noctua2", board="u280_hbm")
    bitstream = system.bitstream("shallow_water", transport)
    return device.path_of(system.board_with(bitstream, 1), bitstream, system.networks[transport])
