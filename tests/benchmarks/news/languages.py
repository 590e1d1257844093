"""The languages that made-up news sites speak: their labels in several wordings, months, and function words.

In a label ``{}`` is what varies. A site takes one wording of each.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Language:
    """One language. small: function words that stand between a site's own words."""

    code: str
    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    small: tuple[str, ...]
    skies: tuple[str, ...]
    dates: tuple[str, ...]
    """Forms of a date: {d} day, {m} number of the month, {name} its name, {y} year."""
    numbers: tuple[str, str]
    """Thousands and decimal separators."""
    price: tuple[str, ...]
    labels: dict[str, tuple[str, ...]]


def _labels(text: str) -> dict[str, tuple[str, ...]]:
    """Lines of ``name: wording | wording``."""
    rows = [line.partition(":") for line in text.strip().splitlines()]
    return {name.strip(): tuple(each.strip() for each in wordings.split("|")) for name, _, wordings in rows}


ENGLISH: Final = Language(
    "en",
    tuple("January February March April May June July August September October November December".split()),
    tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()),
    tuple("the of and to in for with on from by at over".split()),
    ("light rain", "overcast", "sunny spells", "clear sky", "thunderstorms", "heavy showers", "patchy fog"),
    ("{d} {name} {y}", "{name} {d}, {y}", "{y}-{m:02}-{d:02}"),
    (",", "."),
    ("£{}", "${}", "{} EUR"),
    _labels("""
clock: {} | Local time {} | It is {} now
today: {} | Today is {} | Edition of {}
weather: Weather: {} | {} outside | Now {}
visitors: You are visitor number {} | {} visitors so far | Page views: {}
online: {} readers online | Online now: {} | Currently {} people read this site
viewers: {} people are looking at this right now | Viewed by {} others today
generated: Page generated in {} s | Rendered within {} seconds
most read: Most read | Popular now | Top stories
related: Related articles | You may also like | Read more
archive: From the archive | Did you miss these? | Our picks
advertisement: Advertisement | Sponsored | Partner content
help: Questions? Our desk is online, start a chat | Need a hand? An editor can answer you now
cookies: We use cookies to measure our audience. Accept | This site stores cookies. Read the cookie policy
search: Search | Find
published: Published {} | First published on {}
author: By {} | Written by {} | {}, staff writer
comments: {} comments | {} replies from readers
edited: Last edited {} | Updated on {}
changes: Corrections | Change log
change: {}: a figure was corrected | On {} the editors clarified this paragraph
price: Price: {} | {} incl. VAT | Our price {}
stock: {} in stock | Only {} items left | Available: {} pieces
rating: {} out of 5 | Rated {} of 5
reviews: {} reviews | from {} customer ratings
quote: Last price {} | Quote: {}
percent: {} % today | Change: {} %
volume: Volume {} | {} shares traded
hours: Opening hours | Visit us
forecast: Forecast | The days ahead
home: Home | Front page
news: News | Stories
shop: Shop | Store
markets: Markets | Exchange
towns: Towns | Local weather
about: About us | Who we are
contact: Contact | Reach us
terms: Terms of use | Conditions
sizes: Dimensions | Specifications
"""),
)
GERMAN: Final = Language(
    "de",
    tuple("Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()),
    tuple("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split()),
    tuple("der und die in mit von das zu auf bei nach aus".split()),
    ("leichter Regen", "bedeckt", "heiter bis wolkig", "wolkenlos", "Gewitter", "starke Schauer", "Nebelfelder"),
    ("{d}. {name} {y}", "{d:02}.{m:02}.{y}"),
    (".", ","),
    ("{} €", "EUR {}", "CHF {}"),
    _labels("""
clock: {} Uhr | Uhrzeit: {} | Es ist {}
today: {} | Heute ist {} | Ausgabe vom {}
weather: Wetter: {} | Draußen {} | Derzeit {}
visitors: Sie sind Besucher Nr. {} | Bisher {} Besucher | Zugriffe: {}
online: {} Leser online | Gerade online: {} | Zurzeit lesen {} Menschen mit
viewers: {} Personen sehen sich das gerade an | Heute von {} anderen angesehen
generated: Seite erzeugt in {} s | Aufbau der Seite: {} Sekunden
most read: Meistgelesen | Beliebt
related: Mehr zum Thema | Das könnte Sie interessieren
archive: Aus dem Archiv | Unsere Empfehlungen
advertisement: Anzeige | Werbung
help: Fragen? Die Redaktion ist erreichbar, Chat starten | Brauchen Sie Hilfe? Wir antworten sofort
cookies: Diese Seite verwendet Cookies. Einverstanden | Wir messen Zugriffe mit Cookies. Mehr dazu
search: Suche | Finden
published: Veröffentlicht am {} | Erschienen: {}
author: Von {} | Ein Beitrag von {}
comments: {} Kommentare | {} Meinungen von Lesern
edited: Zuletzt bearbeitet: {} | Stand: {}
changes: Korrekturen | Änderungen
change: {}: eine Zahl wurde berichtigt | Am {} wurde dieser Absatz ergänzt
price: Preis: {} | {} inkl. MwSt. | Unser Preis {}
stock: {} Stück auf Lager | Nur noch {} vorrätig
rating: {} von 5 Punkten | Bewertung: {} / 5
reviews: {} Bewertungen | von {} Kunden bewertet
quote: Kurs {} | Letzter Kurs: {}
percent: {} % heute | Veränderung: {} %
volume: Umsatz {} | {} Stück gehandelt
hours: Öffnungszeiten | Besuchen Sie uns
forecast: Vorhersage | Die nächsten Tage
home: Startseite | Start
news: Nachrichten | Berichte
shop: Laden | Angebote
markets: Börse | Märkte
towns: Orte | Wetter vor Ort
about: Über uns | Wer wir sind
contact: Kontakt | So erreichen Sie uns
terms: Nutzungsbedingungen | AGB
sizes: Abmessungen | Technische Daten
"""),
)
FRENCH: Final = Language(
    "fr",
    tuple("janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()),
    tuple("lundi mardi mercredi jeudi vendredi samedi dimanche".split()),
    tuple("le la les de du et dans pour avec sur par en".split()),
    ("pluie faible", "ciel couvert", "belles éclaircies", "grand soleil", "orages", "fortes averses", "brouillard"),
    ("{d} {name} {y}", "{d:02}/{m:02}/{y}"),
    (" ", ","),
    ("{} €", "{} CHF"),
    _labels("""
clock: {} | Heure locale : {} | Il est {}
today: {} | Nous sommes le {} | Édition du {}
weather: Météo : {} | Dehors {} | En ce moment {}
visitors: Vous êtes le visiteur {} | {} visiteurs à ce jour | Pages vues : {}
online: {} lecteurs en ligne | En ligne : {} | Actuellement {} personnes lisent ce site
viewers: {} personnes regardent cet article | Vu par {} autres clients
generated: Page créée en {} s | Temps de calcul : {} secondes
most read: Les plus lus | En vue
related: À lire aussi | Sur le même sujet
archive: Nos archives | La sélection
advertisement: Publicité | Annonce
help: Une question ? La rédaction vous répond en direct | Besoin d'aide ? Ouvrez une discussion
cookies: Ce site utilise des cookies. Accepter | Nous mesurons notre audience par des cookies
search: Chercher | Rechercher
published: Publié le {} | Paru le {}
author: Par {} | Un article de {}
comments: {} commentaires | {} réactions
edited: Dernière modification : {} | Mis à jour le {}
changes: Corrections | Historique
change: {} : un chiffre a été corrigé | Le {} ce paragraphe a été précisé
price: Prix : {} | {} TTC
stock: {} en stock | Plus que {} exemplaires
rating: {} sur 5 | Note : {} / 5
reviews: {} avis | selon {} clients
quote: Cours {} | Dernier cours : {}
percent: {} % sur la séance | Variation : {} %
volume: Volume {} | {} titres échangés
hours: Horaires | Nous trouver
forecast: Prévisions | Les jours à venir
home: Accueil | Une
news: Actualités | Articles
shop: Boutique | Magasin
markets: Bourse | Marchés
towns: Villes | Météo locale
about: À propos | Qui sommes-nous
contact: Contact | Nous joindre
terms: Conditions | Mentions
sizes: Dimensions | Fiche technique
"""),
)
LANGUAGES: Final = (ENGLISH, GERMAN, FRENCH)
