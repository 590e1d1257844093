"""The observation of a response: the middlewares, and the rows that they write into the store."""
