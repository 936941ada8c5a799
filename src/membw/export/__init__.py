"""Figures and verdicts for monitoring, a spreadsheet, a script."""
