"""SetFit: an encoder fine-tuned on pairs of texts, and a linear head."""

from importlib.metadata import version

import torch
from datasets import Dataset
from setfit import SetFitModel, Trainer, TrainingArguments
from talk import job, records, serve

told = job()
torch.set_num_threads(told["n_threads"])
train = records(told["train"])
model = SetFitModel.from_pretrained(told["encoder"])
model.to("cpu")
trainer = Trainer(
    model=model,
    args=TrainingArguments(max_steps=told["max_steps"], batch_size=16, report_to="none"),
    train_dataset=Dataset.from_dict(
        {
            "text": [" ".join(r["words"]) for r in train],
            "label": [r["label"] for r in train],
        }
    ),
)
trainer.train()
texts = [" ".join(record["words"]) for record in records(told["texts"])]


def run() -> list[str]:
    return [str(label) for label in model.predict(texts)]


serve(run, {"setfit": version("setfit")})
