"""Tests over trials and cells, and their sentences."""
