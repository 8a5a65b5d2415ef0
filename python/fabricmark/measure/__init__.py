"""What starts programs: `fabricmark run`, campaigns, `scale`, calibration and `systems new`."""
