"""From a page to its tokens: one pass with the rules of HTML, and where each token stands."""
