"""model2vec: static vectors distilled from the same encoder, and a linear head."""

from importlib.metadata import version

from model2vec.distill import distill
from sklearn.linear_model import LogisticRegression
from talk import job, records, serve

told = job()
model = distill(model_name=told["encoder"], device="cpu", pca_dims=256)
train = records(told["train"])
head = LogisticRegression(max_iter=1_000).fit(
    model.encode([" ".join(r["words"]) for r in train]), [r["label"] for r in train]
)
texts = [" ".join(record["words"]) for record in records(told["texts"])]


def run() -> list[str]:
    return [str(label) for label in head.predict(model.encode(texts))]


serve(run, {"model2vec": version("model2vec")})
