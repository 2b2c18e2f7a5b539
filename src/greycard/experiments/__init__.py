"""The paper's tables, one file for each, run again on your own machine."""
