"""The presets: compile lines, what they build, checksums of the sources."""
