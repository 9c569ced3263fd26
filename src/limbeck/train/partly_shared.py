"""ALBERT with only its attention, or only its feed-forward part, shared between layers.

In:  an ALBERT's sizes and what is shared.
Out: an encoder that transformers saves and loads; what is shared is on disk once.
transformers' own ALBERT shares whole groups of layers or nothing (Lan et al., 2020, table 5, has
the other two).
"""

from typing import Any, Literal

from transformers import AlbertConfig, AlbertModel, AutoConfig, AutoModel

PARTLY_SHARED = "limbeck-albert"
Part = Literal["attention", "ffn"]
_MODULES: dict[str, tuple[str, ...]] = {
    "attention": ("attention",),
    "ffn": ("ffn", "ffn_output", "full_layer_layer_norm"),
}


class PartlySharedConfig(AlbertConfig):  # type: ignore[misc]  # transformers is untyped
    """ALBERT's sizes, and the part of a layer that all layers share."""

    model_type = PARTLY_SHARED
    shared: str = "attention"


class PartlySharedModel(AlbertModel):  # type: ignore[misc]  # transformers is untyped
    """As many groups as layers; one part of them is the same module everywhere."""

    config_class = PartlySharedConfig

    def __init__(self, config: PartlySharedConfig, add_pooling_layer: bool = True) -> None:
        super().__init__(config, add_pooling_layer=add_pooling_layer)
        groups = self.encoder.albert_layer_groups
        tied: dict[str, str] = {}
        first = groups[0].albert_layers[0]
        for i, group in enumerate(groups[1:], start=1):
            for name in _MODULES[config.shared]:
                module = getattr(first, name)
                setattr(group.albert_layers[0], name, module)
                own = f"encoder.albert_layer_groups.{i}.albert_layers.0.{name}"
                its = f"encoder.albert_layer_groups.0.albert_layers.0.{name}"
                tied |= {f"{own}.{p}": f"{its}.{p}" for p, _ in module.named_parameters()}
        self._tied_weights_keys = tied
        self.all_tied_weights_keys: dict[str, Any] = dict(tied)


AutoConfig.register(PARTLY_SHARED, PartlySharedConfig)
AutoModel.register(PartlySharedConfig, PartlySharedModel)
