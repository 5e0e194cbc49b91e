"""Whether the installed TRL is one that this package works with."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

TESTED = (1, 16)


def check_trl() -> None:
    """Raise an `ImportError` if TRL is missing, too old, or without what is used of it."""
    wanted = "{}.{}".format(*TESTED)
    remedy = f"run pip install 'trl=={wanted}.*'"
    try:
        found = version("trl")
    except PackageNotFoundError:
        raise ImportError(f"TRL is not installed: {remedy}") from None
    parts = tuple(int(it) for it in found.split(".")[:2] if it.isdigit())
    if parts < TESTED:
        raise ImportError(f"TRL {found} is too old: {remedy}")
    if parts == TESTED:
        return
    from trl import GRPOConfig, GRPOTrainer, chat_template_utils

    used = {
        GRPOTrainer: ["_generate_single_turn", "_tool_call_loop"],
        GRPOConfig: ["max_tool_calling_iterations", "mask_truncated_completions"],
        chat_template_utils: [
            "add_response_schema",
            "get_training_chat_template",
            "is_chat_template_prefix_preserving",
            "supports_tool_calling",
        ],
    }
    missing = [name for owner, names in used.items() for name in names if not hasattr(owner, name)]
    if missing:
        raise ImportError(f"TRL {found} is too new (it has no {missing[0]}): {remedy}")
