"""The decision about a request: may it be fetched, or is its page fetched already?"""
