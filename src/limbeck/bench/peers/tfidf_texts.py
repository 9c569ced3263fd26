"""TF-IDF of words and pairs of words with logistic regression: what costs nothing to try."""

import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from talk import job, records, serve

told = job()
train = records(told["train"])
model = make_pipeline(
    TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(max_iter=1_000)
).fit([" ".join(r["words"]) for r in train], [r["label"] for r in train])
texts = [" ".join(record["words"]) for record in records(told["texts"])]


def run() -> list[str]:
    return [str(label) for label in model.predict(texts)]


serve(run, {"scikit-learn": sklearn.__version__})
