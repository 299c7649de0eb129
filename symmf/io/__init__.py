"""Reading a user's file."""
