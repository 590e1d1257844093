"""How rules come about. (Design, section 6.)

Read :mod:`.learn` first, then :mod:`.site` and :mod:`.selection`: they are the pipeline. What they put together stands in
rooms, from the bottom up: evidence, data, transient, proposals, search, decision, aliases, methods, lifetime, opinions,
learners, asking. A room knows only those before it.
"""
