"""Text in, pieces out: documents, vocabularies, what is held out."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from raw_text import toy_text
from toys import toy_tokenizer

from limbeck.data.vocabulary import Vocabulary, load_tokenizer
from limbeck.pretrain.config import VocabularyConfig
from limbeck.pretrain.documents import documents
from limbeck.pretrain.holdout import divide
from limbeck.pretrain.text import Text, read_text, write_text
from limbeck.pretrain.vocabulary import learn_vocabulary, read_alphabet
from limbeck.progress import NoProgress

REVIEW = 'Well, "it runs." No? Mr. Cat sees it.<br /><br />A big dog!'


def test_documents_are_lines_or_end_at_a_blank_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(f"{REVIEW}\n\n  \nThe end.\n".encode()))
    found = list(documents([str(path)], "lines"))
    assert found == [
        ['Well, "it runs."', "No?", "Mr. Cat sees it.", "A big dog!"],
        ["The end."],
    ]
    (tmp_path / "b.txt").write_text("One.\nTwo. Three.\n\n\nFour.\n", encoding="utf-8")
    files = [str(tmp_path / "b.txt"), str(tmp_path / "b.txt")]
    assert list(documents(files, "blank-lines")) == 2 * [["One.", "Two.", "Three."], ["Four."]]
    assert len(list(documents(files, "blank-lines", limit=3))) == 3


def test_pieces_on_disk_are_those_of_the_text(tmp_path: Path) -> None:
    given = [[REVIEW, "the cat"], ["a dog"], ["red birds sleep in 1999"]] * 200
    write_text(tmp_path, given, Vocabulary(toy_tokenizer()), NoProgress())
    text = read_text(tmp_path)
    assert text.n_documents == len(given)
    tokenizer = toy_tokenizer()
    for i in (0, 1, 2, len(given) - 1):
        first, last = text.documents[i], text.documents[i + 1]
        assert last - first == len(given[i])
        for sentence, at in zip(given[i], range(first, last), strict=True):
            ids = text.pieces[text.sentences[at] : text.sentences[at + 1]].tolist()
            assert ids == tokenizer.encode(sentence, add_special_tokens=False).ids


@pytest.mark.parametrize("kind", ["wordpiece", "unigram"])
@pytest.mark.parametrize("family", ["albert", "xlnet"])
def test_a_learnt_vocabulary_knows_its_special_pieces_and_its_words(
    kind: str, family: str, tmp_path: Path
) -> None:
    config = VocabularyConfig(kind=kind, size=120)  # type: ignore[arg-type]
    sentences = toy_text(200).split("\n")
    learnt = learn_vocabulary(sentences, config, family=family)  # type: ignore[arg-type]
    learnt.save(str(tmp_path / "tokenizer.json"))
    alphabet = read_alphabet(tmp_path / "tokenizer.json", masks=True)
    assert (alphabet.pad_id, alphabet.cls_id, alphabet.mask_id) == (0, 2, 4)
    assert alphabet.n_pieces <= 120
    assert not set(alphabet.ordinary.tolist()) & {0, 2, 3, 4}
    tokenizer = load_tokenizer(tmp_path / "tokenizer.json")
    encoded = tokenizer.encode("The birds see dogs.", add_special_tokens=False)
    words = np.split(np.array(encoded.tokens), np.flatnonzero(alphabet.opens_word[encoded.ids]))
    joined = ["".join(word).replace("##", "").replace("▁", "") for word in words[1:]]
    assert joined == ["the", "birds", "see", "dogs", "."]
    one = tokenizer.encode("cat")
    special = [i for i, word in enumerate(one.word_ids) if word is None]
    assert special == ([len(one) - 2, len(one) - 1] if family == "xlnet" else [0, len(one) - 1])


def test_held_out_documents_are_no_others() -> None:
    text = Text(
        pieces=np.zeros(300, dtype=np.uint16),
        sentences=np.arange(301),
        documents=np.array([*range(200), 300]),  # one of 101 sentences, the others of one
    )
    divided = divide(text, share=0.1, order="none", seed=1)
    both = np.concatenate((divided.train, divided.held_out))
    assert sorted(both.tolist()) == list(range(200))
    assert len(divided.held_out) == 20
    again = divide(text, share=0.1, order="none", seed=1)
    assert (again.held_out == divided.held_out).all()


def test_a_lone_document_gives_its_end_to_the_probes() -> None:
    text = Text(
        pieces=np.zeros(90, dtype=np.uint16),
        sentences=np.arange(0, 91, 3),
        documents=np.array([0, 30]),
    )
    divided = divide(text, share=0.01, order="none", seed=1)
    assert divided.text.documents.tolist() in ([0, 29, 30], [0, 28, 30])
    assert len(divided.train) == len(divided.held_out) == 1


def test_both_parts_have_documents_with_two_sentences_where_an_order_is_asked() -> None:
    bounds = [0, *range(1, 101), 102, 104]  # a hundred of one sentence, two of two
    text = Text(
        pieces=np.zeros(104, dtype=np.uint16),
        sentences=np.arange(105),
        documents=np.array(bounds),
    )
    for seed in range(5):
        divided = divide(text, share=0.2, order="sop", seed=seed)
        for part in (divided.train, divided.held_out):
            assert (np.diff(text.documents)[part] == 2).sum() == 1
