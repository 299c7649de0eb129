"""The methods the paper compares with: one file per row of its tables."""
