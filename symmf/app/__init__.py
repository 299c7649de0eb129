"""What a clustering is worth and what it shows: quality, representatives, a page."""
