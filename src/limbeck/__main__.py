"""`python -m limbeck` is the `limbeck` command."""

from limbeck.cli.main import main

if __name__ == "__main__":
    main()
