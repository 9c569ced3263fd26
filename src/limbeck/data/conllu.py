"""CoNLL-U: strict streaming reader, and a writer that changes nothing it was not asked to.

In:  numbered lines.
Out: records whose `raw` is the sentence byte for byte, with multiword tokens, empty nodes, comments
and MISC; the writer fills columns of words and copies all else.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from limbeck.data.arcs import check_tree
from limbeck.data.files import sound
from limbeck.data.records import Arc, Labels, Record, WordLabels
from limbeck.data.tags import check_tag
from limbeck.errors import InputError

COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "feats": 5}
NER_KEY = "NER"
ALL_TASKS = ("upos", "xpos", "feats", "lemma", "dep")


def blocks(
    lines: Iterable[tuple[int, str]], *, mark: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Sentences as raw lines, with their first line's number; joined they are the file.

    The blank lines after a sentence belong to it, and so do blank lines and lines that begin with
    `mark` before it; hence a sentence comes out when the line after its end is read.
    """
    block: list[str] = []
    first = 1
    has_words = is_closed = False
    for n, line in lines:
        if not line.strip():
            is_closed = has_words
        else:
            if is_closed:
                yield first, block
                block, has_words, is_closed = [], False, False
            has_words = has_words or mark is None or not line.startswith(mark)
        if not block:
            first = n
        block.append(line)
    if block:
        yield first, block


def read_block(first: int, block: list[str], path: str, tasks: tuple[str, ...]) -> Record | None:
    """Make a record of a sentence; None for blank lines alone."""
    rows: list[list[str]] = []
    places: list[int] = []  # the line of each word
    range_end = 0
    for n, line in enumerate(block, first):
        sound(line)
        if line[0] == "#" or line.isspace():
            continue
        cells = line.rstrip("\r\n").split("\t")
        if len(cells) != 10:
            raise InputError(
                f"{path}:{n}: {len(cells)} columns instead of 10", hint="CoNLL-U separates by tabs"
            )
        due = len(rows) + 1
        if cells[0] == str(due):
            if not cells[1]:
                raise InputError(f"{path}:{n}: empty word")
            rows.append(cells)
            places.append(n)
        elif "-" in cells[0]:
            range_end = max(range_end, _range_end(cells[0], due, f"{path}:{n}"))
        elif not _is_empty_node(cells[0], due):
            raise InputError(f"{path}:{n}: word number {cells[0]!r} where {due} is due")
    where = f"{path}:{first}"
    if not rows:
        if all(line.isspace() for line in block):
            return None
        raise InputError(f"{where}: sentence without words")
    if range_end > len(rows):
        raise InputError(
            f"{where}: a multiword token reaches to word {range_end} of {len(rows)} words"
        )
    columns = list(zip(*rows, strict=True))
    labels: dict[str, Labels] = {}
    for task in tasks:
        known = _labels(task, columns, path, places)
        if any(known):  # no value is an empty text, a None alone is not known
            labels[task] = known
    return Record(
        words=columns[1], labels=labels, raw="".join(block), raw_kind="conllu", where=where
    )


def _range_end(number: str, due: int, where: str) -> int:
    begin, _, end = number.partition("-")
    if begin != str(due) or not end.isdecimal() or int(end) <= due:
        raise InputError(f"{where}: multiword token {number!r} where word {due} is due")
    return int(end)


def _is_empty_node(number: str, due: int) -> bool:
    """An empty node stands after the word whose number it begins with."""
    before, _, count = number.partition(".")
    return before == str(due - 1) and count.isdecimal()


def _labels(
    task: str, columns: Sequence[tuple[str, ...]], path: str, places: Sequence[int]
) -> WordLabels:
    """One entry a word; empty where the sentence does not have the layer.

    "_" is a value of its own (a word without features, without a lemma) in a sentence that has the
    layer at all.
    """
    match task:
        case "dep":
            return _arcs(columns[6], columns[7], path, places)
        case "ner":
            return tuple(
                _entity(misc, f"{path}:{n}") if NER_KEY in misc else "O"
                for misc, n in zip(columns[9], places, strict=True)
            )
        case "upos":
            return tuple(None if value == "_" else value for value in columns[3])
        case "lemma":
            return columns[2] if any(value != "_" for value in columns[2]) else ()
        case "xpos" | "feats":
            is_tagged = any(value != "_" for value in columns[3])
            return columns[COLUMNS[task]] if is_tagged else ()
        case _:
            raise InputError(
                f"{path}: CoNLL-U has no task {task!r}",
                hint=f"it has {', '.join(ALL_TASKS)} and ner",
            )


def _arcs(
    heads: Sequence[str], relations: Sequence[str], path: str, places: Sequence[int]
) -> tuple[Arc | None, ...]:
    n_words = len(heads)
    arcs: list[Arc | None] = []
    for i, (cell, relation) in enumerate(zip(heads, relations, strict=True), 1):
        if cell == "_":
            arcs.append(None)
            continue
        where = places[i - 1]
        if not cell.isdecimal():
            raise InputError(f"{path}:{where}: word {i} has the head {cell!r}, not a number")
        head = int(cell)
        if head > n_words:
            raise InputError(
                f"{path}:{where}: word {i} has the head {head}, "
                f"outside the sentence of {n_words} words"
            )
        if head == i:
            raise InputError(f"{path}:{where}: word {i} is its own head")
        arcs.append(Arc(head, relation))
    if None not in arcs:
        check_tree([arc.head for arc in arcs if arc is not None], f"{path}:{places[0]}")
    return tuple(arcs)


def _entity(misc: str, where: str) -> str:
    for part in misc.split("|"):
        key, _, value = part.partition("=")
        if key == NER_KEY:
            check_tag(value, where)
            return value
    return "O"


def write_conllu(
    record: Record,
    predicted: Mapping[str, Labels],
    text_tasks: Collection[str] = (),
    probabilities: Mapping[str, object] | None = None,
) -> str:
    """A sentence with its predicted columns; from other formats, ten columns are made.

    Layers that have no column of their own go to MISC (of words) or to comments (of the text).
    A word whose label is None keeps what it has. Probabilities are layers of their own, named
    TASK_probability.
    """
    raw = record.raw if record.raw_kind == "conllu" else _blank(record)
    if not predicted or not record.words:
        return raw
    of_text: dict[str, Labels] = {}
    of_words: list[tuple[str, WordLabels]] = []
    for task, labels in predicted.items():
        if task in text_tasks:
            of_text[task] = labels
        else:
            assert isinstance(labels, tuple)
            of_words.append((task, labels))
    for task, chances in (probabilities or {}).items():
        name = f"{task}_probability"
        if task in text_tasks:
            if chances is not None:  # a number has none
                of_text[name] = _shown(chances)
        else:
            assert isinstance(chances, tuple)
            of_words.append((name, tuple(map(_shown, chances))))
    lines = raw.split("\n")
    _fill_words(lines, of_words)
    if of_text:
        lines = _with_comments(lines, of_text)
    return "\n".join(lines)


def _fill_words(lines: list[str], predicted: Sequence[tuple[str, WordLabels]]) -> None:
    """Put labels into the lines of words, in place."""
    simple = [(COLUMNS[task], labels) for task, labels in predicted if task in COLUMNS]
    other = [(task, labels) for task, labels in predicted if task not in COLUMNS]
    at = 0
    for i, line in enumerate(lines):
        if not line or line[0] == "#" or line.isspace():
            continue
        cells = line.split("\t")
        if "-" in cells[0] or "." in cells[0]:
            continue
        for column, labels in simple:
            value = labels[at]
            if isinstance(value, str):
                cells[column] = value
        for task, labels in other:
            _fill_cell(cells, task, labels[at])
        lines[i] = "\t".join(cells)
        at += 1


def _fill_cell(cells: list[str], task: str, value: str | Arc | None) -> None:
    if value is None:
        return
    if isinstance(value, Arc):
        cells[6], cells[7] = str(value.head), value.relation
    elif task == "ner":
        cells[9] = _with_key(cells[9], NER_KEY, "" if value == "O" else value)
    else:
        cells[9] = _with_key(cells[9], task, value)


def _with_key(misc: str, key: str, value: str) -> str:
    """Set a key among MISC's, which stand in alphabetical order; an empty value takes it out."""
    if not value and key not in misc:
        return misc
    text = misc.rstrip("\r")  # the last column holds the first half of CR LF
    parts = [p for p in text.split("|") if p != "_" and p.partition("=")[0] != key]
    if value:
        parts.insert(sum(part < f"{key}=" for part in parts), f"{key}={value}")
    return ("|".join(parts) or "_") + misc[len(text) :]


def _with_comments(lines: Sequence[str], of_text: Mapping[str, Labels]) -> list[str]:
    """Labels of the text as the last comments, in the place of older ones of the same name."""
    kept = [
        line
        for line in lines
        if not (line.startswith("#") and line[1:].partition("=")[0].strip() in of_text)
    ]
    at = next(i for i, line in enumerate(kept) if line.strip() and not line.startswith("#"))
    ending = "\r" if kept[at].endswith("\r") else ""
    comments = [f"# {task} = {_text_label(v)}{ending}" for task, v in of_text.items()]
    return [*kept[:at], *comments, *kept[at:]]


def _shown(chances: object) -> str:
    """Four digits, as JSON lines have them; those of several classes stand beside each other."""
    if isinstance(chances, tuple):
        return "|".join(map(_shown, chances))
    return str(round(float(chances), 4))  # type: ignore[arg-type]


def _text_label(label: Labels) -> str:
    if isinstance(label, tuple):
        return "|".join(map(str, label))
    return f"{label:.4f}" if isinstance(label, float) else label


def _blank(record: Record) -> str:
    for word in record.words:
        if not word or any(c.isspace() for c in word):
            raise InputError(f"{record.where}: the word {word!r} cannot stand in CoNLL-U")
    lines = [f"# text = {' '.join(record.words)}\n"]
    if record.pair:
        lines.append(f"# pair = {' '.join(record.pair)}\n")
    lines += [f"{i}\t{word}" + "\t_" * 8 + "\n" for i, word in enumerate(record.words, 1)]
    return "".join(lines) + "\n" if record.words else ""
