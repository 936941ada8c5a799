"""What is built from what: presets, lines, checksums of sources."""
