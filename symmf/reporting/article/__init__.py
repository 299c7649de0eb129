"""``symmf article``: the reproduction as an article, made from the results alone."""
