"""Who is compared with whom: no drawing, no words."""
