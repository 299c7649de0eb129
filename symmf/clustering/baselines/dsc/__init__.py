"""What DSC is made of."""
