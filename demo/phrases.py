"""Words and phrasings of the demo set. generate.py writes with them, check.py reads with them."""

import re
from dataclasses import dataclass

PHRASING_CLASSES = 4


def compose(beginnings, endings, excluded=()):
    """Every beginning with every ending, dealt so that any run of the list mixes both evenly."""
    first, second = beginnings.split(), endings.split()
    names = [b + second[(i + shift) % len(second)] for shift in range(len(second)) for i, b in enumerate(first)]
    return [name for name in names if name not in excluded]


FIRST_NAMES = compose(
    "Ad Al Ansel Bas Bel Bran Cal Cass Cor Dal Dor Ed El Est Fen Flor Gar Ger Hal Har Il Ir Jor Kel Lis Lor Lud Mil Mir "
    "Nor Os Per Phil Ral Ros Sel Sib Tam Tor Ul Val Wil Yor Zel",
    "a ia ina ena ella etta is o an en in ric ard win mund bert eth ias",
    excluded=("Halo", "Peris", "Rosin", "Miles", "Toro", "Calla", "Coro", "Iran", "Iris", "Harden", "Garden", "Ilia", "Phila"),
)
SURNAMES = compose(
    "Ash Ather Bar Birch Brack Cald Crom Dun Ell Fal Frost Gresh Hather Hol Ingle Kemp Lang Lock Mar Mid Nether Oak Pem "
    "Quen Rad Rush Shel Stan Swin Thorn Tren Under Ver Wald Wes Whit Win Wrex Yar Yel",
    "by croft den ell field ford ham ington ley man more ner son ton well worth",
    excluded=("Winner", "Midden", "Oaken", "Barman", "Lockman", "Kempner", "Underner"),
)
TOWNS = compose(
    "Aber Arn Beck Blen Brim Carn Chel Clun Cray Drift Dray Ever Fenn Glan Grim Hawks Heath Hunter Inver Kings Kirk Lark "
    "Lowe Mallow Mist Mort Pol Raven Sand Skel Stone Tarn Tide Wolver Wynd Yew",
    "mouth bury haven minster dale bridge port stead pool cliffe burgh wick holm combe",
)
NAME_SEQUENCES = (FIRST_NAMES, SURNAMES, TOWNS)

EMBLEMS = "fox swan bear lion owl horse wolf eagle rose star moon crown anchor bell castle lantern".split()
INSTRUMENTS = (
    "violin cello flute oboe clarinet bassoon trumpet horn tuba harp piano organ guitar banjo accordion viola trombone "
    "mandolin xylophone lute"
).split()
GOODS = (
    "honey candles cheese gloves baskets soap bread ribbons jam buttons cider boots spoons kites toys vinegar hats "
    "pottery blankets brooms"
).split()
CROPS = (
    "oats potatoes carrots turnips beans peas lentils hops pears figs grapes olives cabbages leeks radishes parsnips "
    "chestnuts currants melons peaches"
).split()

YEARS = [str(year) for year in range(1861, 1960)]
COUNTS = [str(count) for count in range(13, 99)]


@dataclass(frozen=True)
class Relation:
    """What is asked of a fact (a slot), and the phrasings of the question, which names the fact by its emblem."""

    asked: str
    questions: tuple


@dataclass(frozen=True)
class Record:
    """A kind of context: sentences that each state one fact, and what can be asked of a fact."""

    title: str
    intros: tuple
    sentences: tuple
    relations: tuple


def lines(text):
    return tuple(line.strip() for line in text.strip().splitlines())


RECORDS = (
    Record(
        "Museum workshop",
        lines("""
            The museum keeps a register of its pictures.
            Visitors ask how the old pictures were saved.
            These repairs are listed near the entrance."""),
        lines("""
            {person} restored the picture of the {emblem} in {year}.
            The picture of the {emblem} was cleaned by {person} in {year}.
            In {year} the old {emblem} was repaired by {person}.
            In {year} {person} mended the frame of the {emblem}.
            It was {person} who saved the {emblem} from decay in {year}.
            Work on the {emblem} was finished in {year} by {person}.
            The {emblem}, badly damaged, was made whole by {person} in {year}.
            The year {year} saw {person} return the {emblem} to its wall."""),
        (
            Relation("person", lines("""
                Who restored the picture of the {emblem}?
                Who repaired the {emblem}?
                Which person mended the {emblem}?
                By whom was the {emblem} saved?
                The {emblem} was cleaned by which person?
                Name the person who worked on the {emblem}.
                What is the name of the person who made the {emblem} whole?
                Whose work was the repair of the {emblem}?""")),
            Relation("year", lines("""
                When was the picture of the {emblem} restored?
                In which year was the {emblem} repaired?
                In what year did the work on the {emblem} end?
                The {emblem} was mended in which year?
                Which year is given for the repair of the {emblem}?
                Name the year in which the {emblem} was made whole.
                When was the {emblem} saved?
                What was the year of the work on the {emblem}?""")),
        ),
    ),
    Record(
        "Harbour log",
        lines("""
            Many ships left the harbour in that season.
            A faded log lists the journeys of those days.
            The ships are known by their flags."""),
        lines("""
            Under the flag of the {emblem}, {person} sailed to {town}.
            {person} took the ship with the {emblem} to {town}.
            The ship with the {emblem} carried {person} to {town}.
            For the voyage to {town}, {person} raised the {emblem}.
            The flag of the {emblem} brought {person} safely to {town}.
            In {town} people saw {person} arrive with the {emblem}.
            {town} was reached by {person} under the {emblem}.
            The {emblem} flew above {person} on the way to {town}."""),
        (
            Relation("person", lines("""
                Who sailed under the flag of the {emblem}?
                Who was on the ship with the {emblem}?
                Which person raised the {emblem}?
                By whom was the {emblem} flown?
                The {emblem} belonged to which person?
                Name the person who travelled with the {emblem}.
                What is the name of the person under the {emblem}?
                Whose ship had the {emblem}?""")),
            Relation("town", lines("""
                Where did the ship with the {emblem} go?
                Which town did the flag of the {emblem} reach?
                To which town did somebody sail under the {emblem}?
                Name the town that saw the {emblem}.
                Where did the {emblem} arrive?
                The {emblem} was bound for which town?
                In which town did the voyage of the {emblem} end?
                What town was the goal of the {emblem}?""")),
        ),
    ),
    Record(
        "Concert evening",
        lines("""
            The concert was long and merry.
            A newspaper wrote about the summer concert.
            Every song of the evening had its own player."""),
        lines("""
            {person} played the song of the {emblem} on the {instrument}.
            The song of the {emblem} was played by {person} on the {instrument}.
            On the {instrument}, {person} performed the {emblem}.
            With the {instrument} in hand, {person} began the {emblem}.
            The {emblem} was given to {person} and the {instrument}.
            People heard the {emblem} from {person} and the {instrument}.
            For the {emblem}, {person} took up the {instrument}.
            It was the {instrument} of {person} that closed the {emblem}."""),
        (
            Relation("person", lines("""
                Who played the song of the {emblem}?
                Who performed the {emblem}?
                Which person began the {emblem}?
                By whom was the {emblem} played?
                The {emblem} was heard from which person?
                Name the person who played the {emblem}.
                What is the name of the player of the {emblem}?
                Whose song was the {emblem}?""")),
            Relation("instrument", lines("""
                On which instrument was the song of the {emblem} played?
                What instrument was used for the {emblem}?
                Which instrument was heard in the {emblem}?
                Name the instrument of the {emblem}.
                The {emblem} was played on what?
                With which instrument did somebody begin the {emblem}?
                What did the player of the {emblem} take up?
                Which instrument belongs to the {emblem}?""")),
        ),
    ),
    Record(
        "Village fair",
        lines("""
            The fair was held on a bright autumn day.
            Many stalls stood on the village green.
            Each stall had its own painted sign."""),
        lines("""
            At the sign of the {emblem}, {person} sold {goods}.
            {person} brought {goods} to the stall with the {emblem}.
            The stall with the {emblem} offered {goods} made by {person}.
            People bought {goods} from {person} under the {emblem}.
            Under the {emblem} stood {person} with {goods}.
            There were {goods} by {person} behind the {emblem}.
            The {emblem} showed where {person} had put the {goods}.
            For the {goods} of {person} one went to the {emblem}."""),
        (
            Relation("person", lines("""
                Who sold things at the sign of the {emblem}?
                Who had the stall with the {emblem}?
                Which person stood under the {emblem}?
                By whom was the {emblem} used?
                The {emblem} was the sign of which person?
                Name the person who was behind the {emblem}.
                What is the name of the seller at the {emblem}?
                Whose stall had the {emblem}?""")),
            Relation("goods", lines("""
                What was sold at the sign of the {emblem}?
                What did the stall with the {emblem} offer?
                Which goods were under the {emblem}?
                Name the goods that people bought at the {emblem}.
                The {emblem} was the sign for what?
                For which goods did one go to the {emblem}?
                What goods stood behind the {emblem}?
                What could people buy near the {emblem}?""")),
        ),
    ),
    Record(
        "Railway opening",
        lines("""
            The railway grew slowly along the coast.
            An old timetable tells the story of the line.
            Every engine wore its own badge."""),
        lines("""
            The engine with the {emblem} reached {town} in {year}.
            In {year} the engine with the {emblem} came to {town}.
            {town} saw the {emblem} for the first time in {year}.
            In {year} people of {town} welcomed the {emblem}.
            The {emblem} opened the line to {town} in {year}.
            The year {year} brought the {emblem} to {town}.
            From {year} the {emblem} called at {town}.
            The first run of the {emblem} to {town} was in {year}."""),
        (
            Relation("town", lines("""
                Where did the engine with the {emblem} go?
                Which town did the {emblem} reach?
                Which town welcomed the {emblem}?
                Name the town that saw the {emblem}.
                Where did the {emblem} open the line?
                The {emblem} called at which town?
                In which town did the {emblem} arrive?
                What town was joined to the line by the {emblem}?""")),
            Relation("year", lines("""
                When did the engine with the {emblem} run for the first time?
                In which year did the {emblem} open the line?
                In what year was the {emblem} seen?
                The {emblem} was welcomed in which year?
                Which year is given for the {emblem}?
                Name the year in which the {emblem} arrived.
                When did the {emblem} come?
                What was the year of the {emblem}?""")),
        ),
    ),
    Record(
        "Harvest report",
        lines("""
            The harvest was better than anyone had hoped.
            After a wet spring the fields did well.
            Each barn had a sign above its door."""),
        lines("""
            The barn with the {emblem} held {count} sacks of {crop}.
            There were {count} carts of {crop} behind the {emblem}.
            Under the {emblem} lay {crop} in {count} baskets.
            The farmers took {count} loads of {crop} to the {emblem}.
            The {emblem} was filled with {crop} from {count} fields.
            In the barn of the {emblem} were {crop} in {count} barrels.
            The {emblem} stood above {count} crates of {crop}.
            The clerk wrote {crop} and the number {count} beside the {emblem}."""),
        (
            Relation("count", lines("""
                How many loads were in the barn with the {emblem}?
                How many sacks lay under the {emblem}?
                What number is given for the {emblem}?
                The {emblem} stood above how many loads?
                Give the number of loads behind the {emblem}.
                How large was the harvest at the {emblem}?
                How many loads did the farmers bring to the {emblem}?
                What number is beside the {emblem}?""")),
            Relation("crop", lines("""
                What was in the barn with the {emblem}?
                Which crop lay under the {emblem}?
                What crop did the farmers take to the {emblem}?
                Name the crop behind the {emblem}.
                The {emblem} was filled with what?
                Which crop belonged to the {emblem}?
                What did the clerk write beside the {emblem}?
                The {emblem} stood above which crop?""")),
        ),
    ),
)

SLOT_PATTERNS = {
    "person": r"[A-Z][a-z]+ [A-Z][a-z]+",
    "town": r"[A-Z][a-z]+",
    "emblem": "|".join(EMBLEMS),
    "instrument": "|".join(INSTRUMENTS),
    "goods": "|".join(GOODS),
    "crop": "|".join(CROPS),
    "year": r"1[89]\d\d",
    "count": r"\d\d",
}


def pattern_of(phrasing):
    """The regular expression of a phrasing, its slots as named groups."""
    parts = re.split(r"\{(\w+)\}", phrasing)
    return re.compile("".join(re.escape(p) if i % 2 == 0 else f"(?P<{p}>{SLOT_PATTERNS[p]})" for i, p in enumerate(parts)))


def phrasing_class(index):
    return index % PHRASING_CLASSES


def held_out(question_index, sentence_index):
    """Whether this pair of phrasings belongs to the test split alone."""
    return (question_index + sentence_index) % PHRASING_CLASSES == 0
