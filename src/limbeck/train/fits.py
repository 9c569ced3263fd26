"""Fits: whether a student can be made of an encoder, told from the encoder's config alone.

In:  a student's settings, the config of what it starts from.
Out: nothing, or the refusal that making it would end in: before any teacher has trained.
"""

from transformers import PretrainedConfig

from limbeck.config import StudentModel
from limbeck.errors import ConfigError
from limbeck.train.backbones import check_layers, pick_layers
from limbeck.train.sharing import check_shareable
from limbeck.train.slicing import narrow_sizes


def check_student(student: StudentModel, body: PretrainedConfig) -> None:
    """Refuse a student that cannot be made of this body."""
    try:
        match student.body:
            case "cut":
                student_layers(student, int(body.num_hidden_layers))
                if student.width is not None or student.ffn is not None:
                    width = student.width or int(body.hidden_size)
                    narrow_sizes(body, width=width, ffn=student.ffn)
            case "shared":
                check_shareable(body, embedding=student.embedding)
            case "static":
                pass  # any encoder can give a table
    except ConfigError as failure:
        raise ConfigError(f"student {student.name}: {failure}", hint=failure.hint) from failure


def student_layers(student: StudentModel, n_layers: int) -> list[int]:
    """Which layers of the body a cut student keeps."""
    if student.layers is None:
        return list(range(n_layers))
    if isinstance(student.layers, list):
        check_layers(student.layers, n_layers)
        return student.layers
    return pick_layers(n_layers, student.layers, student.pick)
