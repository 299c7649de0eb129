"""``python -m symmf``."""

from symmf.cli.main import main

main()
