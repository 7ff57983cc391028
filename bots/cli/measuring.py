"""`footnote eval` and `footnote calibrate`."""
