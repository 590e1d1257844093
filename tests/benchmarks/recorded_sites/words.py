"""Made-up texts that fill the sites: words, sentences, names, all drawn from a seed."""

from random import Random

_ONSETS = "b br d dr f g gl h j k l m n p pl r s sk st t tr v w z".split()
_VOWELS = "a e i o u ai ea oo".split()
_CODAS = ["", "", "n", "r", "l", "s", "m", "nd", "rt", "ck"]


class Words:
    """A vocabulary of made-up words, of which the first ones are the most frequent."""

    def __init__(self, seed: str, size: int = 700) -> None:
        self.random = Random(seed)
        syllables = [[self._syllable() for _ in range(self.random.randint(1, 3))] for _ in range(2 * size)]
        self._words = list(dict.fromkeys(map("".join, syllables)))[:size]
        self._weights = [1 / (rank + 10) for rank in range(len(self._words))]

    def _syllable(self) -> str:
        return "".join(map(self.random.choice, (_ONSETS, _VOWELS, _CODAS)))

    def some(self, count: int) -> list[str]:
        """Words as texts have them."""
        return self.random.choices(self._words, self._weights, k=count)

    def names(self, count: int) -> list[str]:
        """Words, no two of them the same, none of them short."""
        return self.random.sample([word for word in self._words if len(word) > 4], count)

    def title(self, least: int = 2, most: int = 5) -> str:
        """A few words with a capital letter."""
        return " ".join(self.some(self.random.randint(least, most))).capitalize()

    def text(self, sentences: int) -> str:
        """A paragraph."""
        return " ".join(f"{self.title(5, 14)}." for _ in range(sentences))
