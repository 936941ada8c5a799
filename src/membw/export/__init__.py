"""Figures and verdicts for what a centre has: Prometheus, InfluxDB, a spreadsheet."""
