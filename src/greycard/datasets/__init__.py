"""Data sets of labelled pictures."""
