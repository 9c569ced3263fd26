"""FastAPI around a transformers pipeline for text classification: what most would write.

Told: the folder of an encoder, a number of threads, a tokenizer.json, its padding, the longest row.
The head is random, which costs what a trained one does.
"""

import socket
import sys

import torch
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    PreTrainedTokenizerFast,
    TextClassificationPipeline,
)


class Text(BaseModel):
    text: str


def main() -> None:
    folder, n_threads, vocabulary, padding, max_pieces = sys.argv[1:]
    torch.set_num_threads(int(n_threads))
    config = AutoConfig.from_pretrained(folder, num_labels=2)
    model = AutoModelForSequenceClassification.from_pretrained(folder, config=config).eval()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=vocabulary, pad_token=padding, model_max_length=int(max_pieces)
    )
    pipeline = TextClassificationPipeline(model=model, tokenizer=tokenizer, truncation=True)
    app = FastAPI()

    @app.post("/")
    def classify(body: Text) -> dict[str, object]:  # in the pool of threads, as FastAPI advises
        return dict(pipeline(body.text)[0])

    opened = socket.socket()
    opened.bind(("127.0.0.1", 0))
    sys.stderr.write(f"on port {opened.getsockname()[1]}\n")
    sys.stderr.flush()
    opened.listen(128)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    server.run(sockets=[opened])


if __name__ == "__main__":
    main()
