"""CoNLL-U: strict streaming reader, and a writer that changes nothing it was not asked to.

In:  numbered lines.
Out: records whose `raw` is the sentence byte for byte, with multiword tokens, empty nodes, comments
and MISC; the writer fills columns of words and copies all else.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from limbeck.data.files import split_lines
from limbeck.data.records import Arc, Labels, Record
from limbeck.errors import InputError

COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "feats": 5}
NER_KEY = "NER"
ALL_TASKS = ("upos", "xpos", "feats", "lemma", "dep")


def blocks(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Sentences as raw lines, the blank line that ends each included."""
    block: list[str] = []
    first = 1
    for n, line in lines:
        if not block:
            first = n
        block.append(line)
        if not line.strip():
            yield first, block
            block = []
    if block:
        yield first, block


def read_block(first: int, block: list[str], path: str, tasks: tuple[str, ...]) -> Record | None:
    """Make a record of a sentence; None for stray blank lines."""
    rows: list[list[str]] = []
    for offset, line in enumerate(block):
        text = line.rstrip("\r\n")
        if not text.strip() or text.startswith("#"):
            continue
        cells = text.split("\t")
        where = f"{path}:{first + offset}"
        if len(cells) != 10:
            raise InputError(
                f"{where}: {len(cells)} columns instead of 10", hint="CoNLL-U separates by tabs"
            )
        if "-" in cells[0] or "." in cells[0]:
            continue  # multiword tokens and empty nodes stay in raw
        if cells[0] != str(len(rows) + 1):
            raise InputError(f"{where}: word number {cells[0]!r} where {len(rows) + 1} is due")
        if not cells[1]:
            raise InputError(f"{where}: empty word")
        rows.append(cells)
    where = f"{path}:{first}"
    if not rows:
        if all(not line.strip() for line in block):
            return None
        raise InputError(f"{where}: sentence without words")
    return Record(
        words=tuple(cells[1] for cells in rows),
        labels=_labels(rows, tasks, where),
        raw="".join(block),
        where=where,
    )


def _labels(rows: list[list[str]], tasks: tuple[str, ...], where: str) -> dict[str, Labels]:
    labels: dict[str, Labels] = {}
    known: tuple[str | None, ...]
    is_tagged = any(cells[3] != "_" for cells in rows)
    for task in tasks:
        if task == "dep":
            arcs = _arcs(rows, where)
            if any(arc is not None for arc in arcs):
                labels["dep"] = arcs
        elif task == "ner":
            labels["ner"] = tuple(_entity(cells[9]) for cells in rows)
        elif task in COLUMNS:
            column = [cells[COLUMNS[task]] for cells in rows]
            # "_" is a value of its own (a word without features, without a lemma) in a sentence
            # that has the layer at all
            if task == "upos":
                known = tuple(None if value == "_" else value for value in column)
            elif task == "lemma":
                known = tuple(column) if any(value != "_" for value in column) else ()
            else:
                known = tuple(column) if is_tagged else ()
            if any(value is not None for value in known):
                labels[task] = known
        else:
            raise InputError(
                f"CoNLL-U has no task {task!r}", hint=f"it has {', '.join(ALL_TASKS)} and ner"
            )
    return labels


def _arcs(rows: list[list[str]], where: str) -> tuple[Arc | None, ...]:
    arcs: list[Arc | None] = []
    for i, cells in enumerate(rows, 1):
        if cells[6] == "_":
            arcs.append(None)
            continue
        if not cells[6].isdecimal():
            raise InputError(f"{where}: word {i} has the head {cells[6]!r}, not a number")
        head = int(cells[6])
        if head > len(rows) or head == i:
            raise InputError(
                f"{where}: word {i} has the head {head}, outside the sentence of {len(rows)} words"
                if head != i
                else f"{where}: word {i} is its own head"
            )
        arcs.append(Arc(head, cells[7]))
    if None not in arcs:
        _check_tree([arc.head for arc in arcs if arc is not None], where)
    return tuple(arcs)


def _check_tree(heads: list[int], where: str) -> None:
    if 0 not in heads:
        raise InputError(f"{where}: no word hangs on the root")
    safe = [False] * (len(heads) + 1)
    safe[0] = True
    for start in range(1, len(heads) + 1):
        path: list[int] = []
        node = start
        while not safe[node]:
            if node in path:
                raise InputError(f"{where}: the heads of words {sorted(path)} form a cycle")
            path.append(node)
            node = heads[node - 1]
        for visited in path:
            safe[visited] = True


def _entity(misc: str) -> str:
    for part in misc.split("|"):
        key, _, value = part.partition("=")
        if key == NER_KEY:
            return value
    return "O"


def write_conllu(
    record: Record, predicted: Mapping[str, Labels], text_tasks: Collection[str] = ()
) -> str:
    """A sentence with its predicted columns; from other formats, ten columns are made.

    Layers that have no column of their own go to MISC (of words) or to comments (of the text).
    """
    raw = record.raw if _is_conllu(record) else _blank(record)
    if not predicted or not record.words:
        return raw
    of_text = {task: label for task, label in predicted.items() if task in text_tasks}
    of_words = {task: labels for task, labels in predicted.items() if task not in text_tasks}
    done: list[str] = []
    at = 0
    for line in split_lines(raw):
        text = line.rstrip("\r\n")
        ending = line[len(text) :]
        if text.startswith("#"):
            if text[1:].partition("=")[0].strip() not in of_text:
                done.append(line)
            continue
        if not text.strip():
            done.append(line)
            continue
        if of_text:  # after the last comment
            done += [f"# {task} = {_text_label(v)}{ending}" for task, v in of_text.items()]
            of_text = {}
        cells = text.split("\t")
        if "-" in cells[0] or "." in cells[0]:
            done.append(line)
            continue
        for task, labels in of_words.items():
            assert isinstance(labels, tuple)
            _fill_cell(cells, task, labels[at])
        at += 1
        done.append("\t".join(cells) + ending)
    return "".join(done)


def _fill_cell(cells: list[str], task: str, value: str | Arc | None) -> None:
    if isinstance(value, Arc):
        cells[6], cells[7] = str(value.head), value.relation
    elif task in COLUMNS:
        cells[COLUMNS[task]] = str(value)
    elif task == "ner":
        cells[9] = _with_key(cells[9], NER_KEY, "" if value == "O" else str(value))
    else:
        cells[9] = _with_key(cells[9], task, str(value))


def _text_label(label: Labels) -> str:
    if isinstance(label, tuple):
        return "|".join(map(str, label))
    return f"{label:.4f}" if isinstance(label, float) else label


def _is_conllu(record: Record) -> bool:
    for line in split_lines(record.raw):
        if line and not line.startswith("#"):
            return line.count("\t") == 9 and line.split("\t", 1)[0][0].isdigit()
    return False


def _blank(record: Record) -> str:
    for word in record.words:
        if not word or any(c.isspace() for c in word):
            raise InputError(f"{record.where}: the word {word!r} cannot stand in CoNLL-U")
    lines = [f"# text = {' '.join(record.words)}\n"]
    lines += [f"{i}\t{word}" + "\t_" * 8 + "\n" for i, word in enumerate(record.words, 1)]
    return "".join(lines) + "\n" if record.words else ""


def _with_key(misc: str, key: str, value: str) -> str:
    """Set a key among MISC's, which stand in alphabetical order; an empty value takes it out."""
    parts = [p for p in misc.split("|") if p != "_" and p.partition("=")[0] != key]
    if value:
        parts.insert(sum(part < f"{key}=" for part in parts), f"{key}={value}")
    return "|".join(parts) or "_"
