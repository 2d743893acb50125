"""Words that people and APIs use for the same thing: verbs by what a method does, and the nouns of common subjects.

General English over many subjects, no product's own names: a row helps every API in which one of its words is used, and
words are only in one row if they can stand for each other in a request. A word may be in several rows.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from .terms import stem

VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "read": """
get list fetch show find read retrieve view see look display return query tell give
what who whom whose which when where how why is are was were does did has have had many much
""",
        "search": "search find lookup look query filter discover match browse seek locate called named",
        "create": """
create add make new post insert register open start place submit build generate set setup upload write file issue
schedule book put provision launch send invite
""",
        "change": """
update change edit modify patch set put replace rename adjust correct move switch turn alter mark assign enable disable
close resolve finish lock unlock activate deactivate pause resume
""",
        "delete": """
delete remove drop erase destroy clear cancel revoke purge discard trash unset stop end undo uninvite unfollow
""",
    }
)
"""What is wanted, and the words that say so."""

METHODS: Final[Mapping[str, str]] = MappingProxyType(
    {"GET": "read", "HEAD": "read", "QUERY": "read", "POST": "create", "PUT": "change", "PATCH": "change"}
    | {"DELETE": "delete"}
)
"""What an HTTP method does, by the words of `VERBS`."""

_SUBJECTS: Final = """
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


def _concepts(rows: Iterable[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name, words in rows:
        for word in dict.fromkeys(stem(word) for word in words.split()):
            found.setdefault(word, []).append(name)
    return MappingProxyType({word: tuple(names) for word, names in found.items()})


SUBJECTS: Final = _concepts((f"={number}", row) for number, row in enumerate(_SUBJECTS.strip().splitlines()))
"""The rows that the stem of a word is in."""

WANTS: Final = _concepts(VERBS.items())
"""What the stem of a word says is to be done."""
