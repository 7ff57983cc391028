"""Part of every digest, stamp and signature."""

# Whoever changes what a reader makes of a file, or where the splitter cuts, raises it: then everything is read anew.
READING_VERSION = "7"
