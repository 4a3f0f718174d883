"""Words and phrasings of the demo set. generate.py writes with them, check.py reads with them."""

import re
from dataclasses import dataclass

PHRASING_CLASSES = 4


def compose(beginnings, endings):
    """Every beginning with every ending."""
    return [beginning + ending for beginning in beginnings.split() for ending in endings.split()]


PEOPLE = compose(
    "Ash Ather Bar Birch Brack Cald Crom Dun Ell Fal Frost Gresh Hather Hol Ingle Kemp Lang Lock Mar Mil Nether Oak "
    "Pem Quen Rad Rush Shel Stan Swin Thorn Tren Under Ver Wald Wes Whit Wick Wrex Yar Yel",
    "by croft den ell field ford ham ington ley man more ner son ton well worth",
)
TOWNS = compose(
    "Aber Arn Beck Blen Brim Carn Chel Clun Cray Drift Dray Ever Fenn Glan Grim Hawks Heath Hunter Inver Kings Kirk "
    "Lark Lowe Mallow Mist Mort Pol Raven Sand Skel Stone Tarn Tide Wolver Wynd Yew",
    "mouth bury haven minster dale port stead pool cliffe burgh holm combe",
)
LOOKS = "silver golden wooden broken black white red blue green old ivory bronze marble painted".split()
COUNTS = [str(count) for count in range(31, 99)]
DAYS = [str(day) for day in range(2, 31)]

# The word by which a question names its answer: one word of the answer, which no other answer of the context has.
KEYS = {
    "who": "Captain Doctor Judge Colonel Professor Sister Uncle Aunt Bishop Sergeant Mayor Nurse".split(),
    "where": "Bridge Mill Church Castle Market Harbour Station Tower School Inn Farm Abbey".split(),
    "when": "January February March April May June July August September October November December".split(),
    "what": "cup clock vase mirror shield globe ladder chest portrait crown lamp helmet".split(),
    "count": "sacks barrels crates carts baskets jars boxes bottles bundles coins candles bricks".split(),
}
NAMES = {"who": PEOPLE, "where": TOWNS, "when": DAYS, "what": LOOKS, "count": COUNTS}


def answer(kind, name, key):
    return f"{key} {name}" if kind == "who" else f"{name} {key}"


def key_in_question(kind, key):
    return key if kind == "when" else key.lower()


@dataclass(frozen=True)
class Relation:
    """A property of a fact that is asked for, and the phrasings of the question."""

    asked: str
    questions: tuple


@dataclass(frozen=True)
class Record:
    """A kind of context: the phrasings of its sentences, which state a fact each, and what can be asked of a fact."""

    title: str
    sentences: tuple
    relations: tuple


def lines(text):
    return tuple(line.strip() for line in text.strip().splitlines())


RECORDS = (
    Record(
        "Auction",
        lines("""
            {who} sold the {what} on {when}.
            On {when} {who} bought the {what}.
            The {what} went to {who} on {when}.
            On {when} the {what} was shown to {who}.
            {who} paid well for the {what} on {when}.
            The {what} was bought by {who} on {when}.
            On {when} it was {who} who took the {what}.
            It was on {when} that {who} wanted the {what}."""),
        (
            Relation("who", lines("""
                Which {key} came to the auction?
                Who was the {key} at the auction?
                What was the name of the {key}?
                Name the {key} who took part.
                Which {key} bought or sold something?
                The auction was attended by which {key}?
                Who is the {key} in this report?
                As what {key} was somebody known?""")),
            Relation("what", lines("""
                Which {key} was at the auction?
                What kind of {key} was it?
                What sort of {key} did people see?
                Name the {key} that had a buyer.
                Which {key} did somebody want?
                The auction was about which {key}?
                Which {key} is in this report?
                What {key} could one buy?""")),
            Relation("when", lines("""
                On which day in {key} was the auction?
                Which day of {key} is given?
                When in {key} did people meet?
                Name the day in {key}.
                What was the date in {key}?
                The auction was on which day of {key}?
                Which date in {key} is in this report?
                On what day of {key} could one buy?""")),
        ),
    ),
    Record(
        "Delivery",
        lines("""
            {who} left {count} at {where}.
            At {where} {who} found {count}.
            {who} asked for {count} at {where}.
            At {where} there were {count} for {who}.
            {who} carried {count} to {where}.
            From {where} {who} took {count}.
            Near {where} {who} counted {count}.
            {who} paid for {count} at {where}."""),
        (
            Relation("who", lines("""
                Which {key} had goods to carry?
                Who was the {key} with the goods?
                What was the name of the {key}?
                Name the {key} who counted.
                Which {key} dealt with the goods?
                The goods were handled by which {key}?
                Who is the {key} on this list?
                As what {key} was somebody known?""")),
            Relation("count", lines("""
                How many {key} were delivered?
                What number of {key} is given?
                How many {key} did somebody need?
                Name the number of {key}.
                How many {key} can we count?
                There were how many {key} in all?
                How many {key} are on this list?
                What was the number of {key}?""")),
            Relation("where", lines("""
                At which {key} were the goods?
                Which {key} had a delivery?
                What was the {key} called?
                Name the {key} with the goods.
                Which {key} did somebody go to?
                The goods were at which {key}?
                Which {key} is on this list?
                What {key} could one find goods at?""")),
        ),
    ),
    Record(
        "Journey",
        lines("""
            {who} came to {where} on {when}.
            On {when} {who} reached {where}.
            {who} waited at {where} on {when}.
            On {when} {who} slept at {where}.
            {where} was visited by {who} on {when}.
            {where} welcomed {who} on {when}.
            It was on {when} that {who} saw {where}.
            On {when} the road led {who} to {where}."""),
        (
            Relation("who", lines("""
                Which {key} was on the road?
                Who was the {key} on the journey?
                What was the name of the {key}?
                Name the {key} who travelled.
                Which {key} made a journey?
                The journey was made by which {key}?
                Who is the {key} in this diary?
                As what {key} did somebody travel?""")),
            Relation("where", lines("""
                At which {key} did the journey end?
                Which {key} had a guest?
                What was the {key} called?
                Name the {key} on the way.
                Which {key} did a traveller see?
                The road led to which {key}?
                Which {key} is in this diary?
                What {key} could one visit?""")),
            Relation("when", lines("""
                On which day in {key} was the journey?
                Which day of {key} is written down?
                When in {key} did somebody travel?
                Name the day in {key}.
                What was the date in {key}?
                The journey was on which day of {key}?
                Which date in {key} is in this diary?
                On what day of {key} was somebody away?""")),
        ),
    ),
    Record(
        "Exhibition",
        lines("""
            The {what} came to {where} on {when}.
            On {when} the {what} was seen at {where}.
            {where} showed the {what} on {when}.
            On {when} {where} lent the {what}.
            The {what} was cleaned at {where} on {when}.
            On {when} the {what} left {where}.
            Visitors admired the {what} at {where} on {when}.
            It was on {when} that {where} got the {what}."""),
        (
            Relation("what", lines("""
                Which {key} was in the exhibition?
                What kind of {key} was on show?
                What sort of {key} did visitors see?
                Name the {key} that was moved.
                Which {key} did people admire?
                The exhibition had which {key}?
                Which {key} is in this guide?
                What {key} could one admire?""")),
            Relation("where", lines("""
                At which {key} was the exhibition?
                Which {key} had something to show?
                What was the {key} called?
                Name the {key} with a treasure.
                Which {key} did visitors go to?
                The treasure was at which {key}?
                Which {key} is in this guide?
                What {key} could one visit?""")),
            Relation("when", lines("""
                On which day in {key} was the exhibition?
                Which day of {key} is announced?
                When in {key} did visitors come?
                Name the day in {key}.
                What was the date in {key}?
                The exhibition was on which day of {key}?
                Which date in {key} is in this guide?
                On what day of {key} could one visit?""")),
        ),
    ),
    Record(
        "Harvest",
        lines("""
            There were {count} at {where} on {when}.
            On {when} {where} received {count}.
            {where} sent {count} on {when}.
            On {when} rain spoiled {count} at {where}.
            The villagers brought {count} to {where} on {when}.
            On {when} they stored {count} at {where}.
            {where} needed {count} on {when}.
            It was on {when} that {where} lost {count}."""),
        (
            Relation("count", lines("""
                How many {key} came from the fields?
                What number of {key} is given?
                How many {key} did the villagers have?
                Name the number of {key}.
                How many {key} can we count?
                There were how many {key} in all?
                How many {key} are in this account?
                What was the number of {key}?""")),
            Relation("where", lines("""
                At which {key} was the harvest?
                Which {key} took part in the harvest?
                What was the {key} called?
                Name the {key} in the harvest.
                Which {key} did the villagers know?
                The harvest was at which {key}?
                Which {key} is in this account?
                What {key} could one work at?""")),
            Relation("when", lines("""
                On which day in {key} was the harvest?
                Which day of {key} is noted?
                When in {key} did the villagers work?
                Name the day in {key}.
                What was the date in {key}?
                The harvest was on which day of {key}?
                Which date in {key} is in this account?
                On what day of {key} was there work?""")),
        ),
    ),
    Record(
        "Barter",
        lines("""
            {who} gave the {what} for {count}.
            For {count} {who} sold the {what}.
            {who} exchanged the {what} for {count}.
            For {count} the {what} went to {who}.
            {who} offered {count} for the {what}.
            The {what} was worth {count} to {who}.
            With {count} {who} paid for the {what}.
            It took {count} to win the {what} from {who}."""),
        (
            Relation("who", lines("""
                Which {key} made a bargain?
                Who was the {key} in the bargain?
                What was the name of the {key}?
                Name the {key} who traded.
                Which {key} had something to trade?
                The bargain was made by which {key}?
                Who is the {key} in this story?
                As what {key} was somebody known?""")),
            Relation("what", lines("""
                Which {key} was traded?
                What kind of {key} had a price?
                What sort of {key} did people trade?
                Name the {key} that had a price.
                Which {key} was part of a bargain?
                The bargain was about which {key}?
                Which {key} is in this story?
                What {key} could one trade?""")),
            Relation("count", lines("""
                How many {key} were traded?
                What number of {key} was the price?
                How many {key} did somebody pay?
                Name the number of {key}.
                How many {key} made the price?
                The price was how many {key}?
                How many {key} are in this story?
                What was the number of {key}?""")),
        ),
    ),
)

NAME_PATTERNS = {"who": "[A-Z][a-z]+", "where": "[A-Z][a-z]+", "when": r"\d+", "what": "[a-z]+", "count": r"\d+"}


def answer_pattern(kind):
    """The regular expression of any answer of this kind."""
    return answer(kind, NAME_PATTERNS[kind], f"(?:{'|'.join(KEYS[kind])})")


def sentence_pattern(phrasing):
    slots = re.compile(r"\\{(\w+)\\}")
    return re.compile(slots.sub(lambda slot: f"(?P<{slot[1]}>{answer_pattern(slot[1])})", re.escape(phrasing)))


def question_pattern(relation, phrasing):
    keys = "|".join(key_in_question(relation.asked, key) for key in KEYS[relation.asked])
    return re.compile(re.escape(phrasing).replace(r"\{key\}", f"(?P<key>{keys})"))


def held_out(question, sentence):
    """Whether this pair of a question's and a sentence's phrasing (their numbers) belongs to the test split alone."""
    return (question + sentence) % PHRASING_CLASSES == 0
