"""How rules come about: clusters of equal pages, the learners, validation. (Design, section 6.)"""
