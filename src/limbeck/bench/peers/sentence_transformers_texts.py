"""sentence-transformers: frozen vectors and a linear head, in any of its backends."""

import sentence_transformers
import torch
from sentence_transformers import SentenceTransformer
from sklearn.linear_model import LogisticRegression
from talk import job, records, serve

told = job()
torch.set_num_threads(told["n_threads"])
encoder = SentenceTransformer(told["encoder"], backend=told["backend"], device="cpu")
train = records(told["train"])
head = LogisticRegression(max_iter=1_000).fit(
    encoder.encode([" ".join(r["words"]) for r in train]), [r["label"] for r in train]
)
texts = [" ".join(record["words"]) for record in records(told["texts"])]


def run() -> list[str]:
    return [str(label) for label in head.predict(encoder.encode(texts))]


serve(run, {"sentence-transformers": sentence_transformers.__version__})
