"""Small vocabularies of every type: word pieces, bytes, unigram. Learnt here, never fetched."""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from toys import toy_tokenizer

from limbeck.data.vocabulary import tokenizer_from_text

TEXT = ["the cat sees a dog", "birds don't fly in 1999 !", "Ünïcode wörds, too: 日本"] * 20
SPECIALS = ["<s>", "</s>", "<unk>", "<cls>", "<sep>"]


def byte_level() -> Tokenizer:
    """As RoBERTa has it: bytes, and two special pieces between the texts of a pair."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIALS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def unigram() -> Tokenizer:
    """As XLNet has it: special pieces at the end, with a type of their own."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=120, special_tokens=SPECIALS, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A:0 <sep>:0 <cls>:2",
        pair="$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2",
        special_tokens=[("<cls>", 3), ("<sep>", 4)],
    )
    return tokenizer


KINDS = {
    "word pieces": toy_tokenizer(),
    "bytes": tokenizer_from_text(byte_level().to_str()),
    "unigram": tokenizer_from_text(unigram().to_str()),
}
