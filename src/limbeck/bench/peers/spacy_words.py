"""spaCy: a pipeline trained by its own command line, on words that are split already."""

import spacy
from spacy.tokens import Doc
from talk import job, records, serve

told = job()
nlp = spacy.load(told["model"])
texts = [record["words"] for record in records(told["texts"])]


def run() -> list[dict[str, list[object]]]:
    docs = nlp.pipe(
        (Doc(nlp.vocab, words=words) for words in texts),
        batch_size=256,
        n_process=told["n_threads"],
    )
    return [
        {
            "upos": [word.pos_ for word in doc],
            "xpos": [word.tag_ for word in doc],
            "feats": [str(word.morph) or "_" for word in doc],
            "lemma": [word.lemma_ for word in doc],
            "dep": [
                [0 if word.head.i == word.i else word.head.i + 1,
                 "root" if word.head.i == word.i else word.dep_]
                for word in doc
            ],
        }
        for doc in docs
    ]  # fmt: skip


serve(run, {"spacy": spacy.__version__})
