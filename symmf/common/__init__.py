"""What every package uses: errors aside, no knowledge of clustering."""
