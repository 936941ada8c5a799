"""How ReFrame, a shell and its user find what is membw's."""
