"""A mask applied to pages: stripping, comparing, and the pages on which it acts."""
