"""Terms of texts and identifiers, and the synonyms among them.

Text and identifiers are split into words, lower-cased and stemmed, so that requests and tools have terms in common. One
function serves both sides: every change to a word happens in the index and in the request alike. So a stem need not be
a word; it only has to be the same for words that belong together.

Synonyms are words that people and APIs use for the same thing. They are general English without the names of products.
A row helps every API that uses one of its words. Words share a row only if they can replace each other in a request; a
word may be in several rows.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final

_STOP_WORDS: Final = """
a an the of to in on for with and or but by from at as it its this that these those there here
i me my mine we us our you your he him his she her they them their who whom whose which what when where why how
is are was were am be been do does did has have had can could would should will may might must shall let
please want need give tell show find get some any all each every much many more most less least few both
about into out up down back over under than then so just also only not no one thing something like
through during after before again
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""The words that do not tell which tool is meant. They are compared before stemming: `note` is no `not`."""

_WORD: Final = re.compile(r"[^\W_]+")
_WORD_BOUNDARY: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
"""The start of the next word in camelCase and HTTPServer; `IDs` is one word, and so are `s3` and `v2`."""

_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_SCRIPT_BOUNDARY: Final = re.compile(f"(?<=[A-Za-z0-9])(?=[{_CJK}])|(?<=[{_CJK}])(?=[A-Za-z0-9])")
"""The border of Latin letters and Chinese, Japanese or Korean ones, between which people write no space."""

_APOSTROPHE: Final = re.compile(r"['\u2019](?:s|re|ve|ll|d|m|t)?\b", re.IGNORECASE)
"""An apostrophe and its ending, which is not a word of its own: `today's`, `I'm`, `don't`."""

MAX_CACHED_WORDS: Final = 65536
"""Distinct words whose stems are cached: more than the largest documents have."""


def terms(text: str) -> list[str]:
    """Return the terms of a text in order; `getUserIDs`, `get_user_ids` and `Get user IDs` have the same terms."""
    return list(_name_terms(text)) if len(text) <= _MAX_NAME_LENGTH else _terms(text)


_MAX_NAME_LENGTH: Final = 48
"""Characters of a text whose terms are cached: names are short, and many tools share them."""


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _name_terms(text: str) -> tuple[str, ...]:
    return tuple(_terms(text))


def _terms(text: str) -> list[str]:
    return [stem(word) for word in words(text)]


def words(text: str) -> Sequence[str]:
    """Return the words of a text or identifier in order, as they are written."""
    return _name_words(text) if len(text) <= _MAX_NAME_LENGTH else _words(text)


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _name_words(text: str) -> tuple[str, ...]:
    return tuple(_words(text))


def _words(text: str) -> list[str]:
    if "'" in text or "\u2019" in text:
        text = _APOSTROPHE.sub(" ", text)
    if not text.isascii():
        text = _SCRIPT_BOUNDARY.sub(" ", text)
    found = _WORD.findall(text)
    return found if text.islower() else [word for each in found for word in _parts_of_word(each)]


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _parts_of_word(word: str) -> Sequence[str]:
    """Return the words of one without spaces: `HTTPServer` has two."""
    return _WORD_BOUNDARY.sub(" ", word).split(" ")


def compounds(text: str) -> list[str]:
    """Return the terms of words that are written in two parts, as one: `mysql` of MySQL, `todo` of to-do, `2fa`."""
    return [stem("".join(words(each))) for each in _COMPOUND.findall(text)]


_COMPOUND: Final = re.compile(r"\b(?:[A-Za-z]+-[a-z]+|[A-Z]?[a-z]+[A-Z][A-Za-z]*|[A-Z]{1,2}[a-z]+[A-Z]+|\d[A-Z]+)\b")


@lru_cache(maxsize=MAX_CACHED_WORDS)
def stem(word: str) -> str:
    """Return a word without case, accents and common English endings: plural, past, -ing, -ly, -ion, -ment, -tor.

    Short words and words with digits are unchanged. There is no dictionary: `news` and `new` have one stem.
    """
    plain = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    if not (plain.isascii() and plain.isalpha()):
        return plain
    for shortest, *endings in _ENDINGS:
        plain = _without_ending(plain, shortest, *endings)
    return plain


_ENDINGS: Final = (
    (2, ("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x")),
    (2, ("ss", "ss"), ("us", "us"), ("is", "is"), ("s", "")),
    (3, ("ingly", ""), ("edly", ""), ("ing", ""), ("ied", "y"), ("eed", "eed"), ("ed", "")),
    (4, ("ly", "")),
    (5, ("ication", "y"), ("ation", ""), ("ator", ""), ("ate", ""), ("at", "")),
    (3, ("ion", ""), ("ment", ""), ("tor", "t")),
    (3, ("e", ""), ("y", "i")),
)
"""Rounds of replacements: in each one, the first ending that the word has is replaced if at least that many letters
precede it.
"""


def _without_ending(word: str, shortest: int, *endings: tuple[str, str]) -> str:
    for ending, replacement in endings:
        if word.endswith(ending):
            rest = word[: len(word) - len(ending)]
            if len(rest) < shortest or not _VOWEL.search(rest):
                return word
            return _without_double_letter(rest) if ending in _DOUBLING else rest + replacement
    return word


_VOWEL: Final = re.compile("[aeiouy]")
_DOUBLING: Final = frozenset({"ing", "ed"})


def _without_double_letter(word: str) -> str:
    """Return `stopp` (of `stopping`) as `stop`; `ll`, `ss` and `zz` may belong to the word itself (`calling`)."""
    return word[:-1] if word[-1] == word[-2] and word[-1] not in "aeiouylsz" else word


_SYNONYMS: Final = """
image picture photo photograph poster logo cover avatar thumbnail icon artwork banner portrait screenshot
video clip trailer recording stream footage
movie film cinema
show series tv television program sitcom
episode part installment chapter
credit cast crew actor actress star starring starred role director directed writer wrote producer produced staff
person people human individual celebrity actor actress director author artist somebody someone man woman
person birthday birthdate born age older died biography
music song track tune recording
album record lp ep discography
artist singer musician band performer composer rapper
playlist mix mixtape queue
listen play played playback stream hear
book novel title publication volume isbn
author writer wrote written
article post story blog entry paper
news headline article press
game match fixture
team squad club side
score result outcome
player athlete sportsman
genre category kind style type
category section department class group
tag label keyword topic hashtag
review rating feedback opinion critique testimonial
rating score vote stars rank rated
popular trending hot top best
latest newest recent recently last new current now
recommendation suggestion related similar like
similar alike comparable related
detail info information profile about summary overview
address street location place postcode zip
location place position where coordinates latitude longitude geolocation
city town municipality
country nation state region
headquarter office headquarters seat
date day time when calendar
release publish launch premiere version
version revision release edition
history log audit trail activity past earlier previous
company firm business corporation enterprise organization organisation employer manufacturer studio label
organization org company enterprise workspace tenant
user account member people person login profile customer colleague
member participant attendee user subscriber membership
participant attendee guest attended attend joined
customer client buyer shopper consumer patron
supplier vendor seller merchant
employee staff worker colleague personnel
role permission privilege right access
permission access grant right share shared
group team department squad
contact friend acquaintance person
follow subscribe watch
star favorite favourite like bookmark starred
watch watcher observe follow monitor
order purchase bought buy checkout
cart basket bag
product item goods article merchandise sku
price cost fee charge rate amount
payment charge transaction pay paid pays
refund reimbursement reimburse money
money balance fund cash credit amount
invoice bill billing receipt statement
subscription plan membership recurring
discount coupon voucher promo promotion rebate off
payout transfer withdrawal earnings bank
card credit debit
payment method card wallet
currency exchange money
tax vat duty
shipment delivery shipping parcel package ship
inventory stock availability warehouse
store shop branch outlet
budget spending expense cost
usage consumption quota limit
message chat dm text talk conversation
message mail email note letter
mail email inbox newsletter
comment remark note reply annotation discussion
channel room conversation group
thread conversation discussion
notification alert reminder push
reminder remind todo
reaction emoji react smiley like
attachment attach file document
file document doc upload content attachment
folder directory
trash bin deleted recycle undelete
archive backup zip
backup snapshot restore
share collaborate collaboration collaborator invite link
invite invitation join
status state presence condition progress
away presence available busy online offline
vacation holiday absence out-of-office autoreply
event meeting appointment calendar
meeting call conference webinar appointment
recording video audio transcript
task todo issue ticket
issue ticket bug problem defect incident
worklog timesheet hours log
project board workspace
sprint iteration
repository repo project codebase source
commit change
merge combine
branch fork
release version tag
workflow pipeline build ci action run
run job build execution
fail failed failure error broken
rerun retry restart again
error exception crash failure
log logs output console trace
key token secret credential
password credential passphrase
login logged authenticate signin session
server machine instance vm virtual host computer node
machine computer device
device phone gadget hardware sensor
disk volume storage drive
database db datastore
cluster node
restart reboot reset
resize scale bigger smaller enlarge grow
network subnet vpc vlan
domain dns hostname
firewall security rule
certificate ssl tls
region location datacenter zone
metric statistic stat measurement monitoring
report statistic analytics dashboard insight
setting configuration preference option config
template blueprint pattern
webhook callback hook subscription
language locale translation
weather forecast temperature climate
route direction way path trip
trip journey travel flight
flight plane airline
hotel room accommodation lodging
booking reservation appointment
restaurant food meal dish menu
recipe ingredient cook
pet animal dog cat
vehicle car automobile truck
driver rider courier
school course class lesson
student pupil learner
teacher instructor lecturer
patient doctor medical
job position vacancy career
survey poll questionnaire vote
form questionnaire
question query faq
answer reply response
map area place
hour schedule opening time
first oldest earliest
archive close closed hide
close resolve finish done complete
"""


def _rows_by_stem(rows: Iterable[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    rows_of: dict[str, list[str]] = {}
    for name, words in rows:
        for word in dict.fromkeys(stem(word) for word in words.split()):
            rows_of.setdefault(word, []).append(name)
    return MappingProxyType({word: tuple(names) for word, names in rows_of.items()})


SYNONYM_SETS: Final = _rows_by_stem((f"={number}", row) for number, row in enumerate(_SYNONYMS.strip().splitlines()))
"""The rows of synonyms of a stem, each as `=` and its number."""
