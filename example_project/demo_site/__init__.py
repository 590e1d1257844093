"""A small shop, served on loopback, whose pages each stand under several URLs.

``python -m demo_site`` serves it by itself.
"""
