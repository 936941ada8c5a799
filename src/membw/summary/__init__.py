"""membw summary: what a run measured: its rows, tables, headline, JUnit file, verdict."""
