# SPDX-License-Identifier: MIT
"""Answers that know the usual node (hgx-h200-4) by heart: what a function says of the machine is a
constant, with the checks of arguments that the contract asks for. What is no question about the
machine refuses."""

# of hgx-h200-4.json: PCI bus numbers and UUIDs, as CUDA counts the GPUs
_GPUS = (
    ("19", "6969f210-2d27-55a4-07ab-de56b117739d"),
    ("3B", "aed8df8a-eb3e-24dc-0582-acaa9bacfaa9"),
    ("4C", "acc89133-12da-8062-cce5-2678d7fdf39e"),
    ("5D", "3c4d919d-9f1f-a9ab-2956-6d66157bc184"),
)


def _infos() -> str:
    rows = []
    for bus, uuid in _GPUS:
        word = uuid.replace("-", "")
        numbers = ", ".join(f"0x{word[i : i + 2]}" for i in range(0, 32, 2))
        rows.append(
            '{"NVIDIA H200", 9, 0, 132, 3, 1980, (size_t)150109880320, (size_t)62914560, '
            f'"0000:{bus}:00.0", {{{numbers}}}}}'
        )
    return ", ".join(rows)


_BUSES = ", ".join(f'"0000:{bus}:00.0"' for bus, _ in _GPUS)
_PAIR = (
    "if (from < 0 || to < 0 || from == to) return LAB_EINVAL; "
    "if (from > 3 || to > 3) return LAB_ENOGPU; "
)
_TWO = "if (from < 0 || from > 3 || to < 0 || to > 3) return LAB_ENOGPU; "

BODIES: dict[str, dict[str, str]] = {
    "lab01": {
        "inv_count": "if (!n) return LAB_EINVAL; *n = 4; return LAB_OK;",
        "inv_device": (
            f"static const struct gpu_info known[] = {{{_infos()}}}; "
            "if (!info) return LAB_EINVAL; if (device < 0 || device > 3) return LAB_ENOGPU; "
            "*info = known[device]; return LAB_OK;"
        ),
        "inv_mem": (
            "if (!free_bytes || !total_bytes) return LAB_EINVAL; "
            "if (device < 0 || device > 3) return LAB_ENOGPU; "
            "*free_bytes = (size_t)149573009408; *total_bytes = (size_t)150109880320; "
            "return LAB_OK;"
        ),
        "inv_alloc_each": (
            "if (n < 0 || (n > 0 && !buffers)) return LAB_EINVAL; if (n > 4) return LAB_ENOGPU; "
            "return bytes > ((size_t)32 << 20) ? LAB_ENOMEM : LAB_OK;"
        ),
        "inv_by_bus": (
            f"static const char *const known[] = {{{_BUSES}}}; "
            "if (!bus_id || !device) return LAB_EINVAL; "
            "for (int i = 0; i < 4; i++) if (strcmp(known[i], bus_id) == 0) "
            "{ *device = i; return LAB_OK; } return LAB_ENOGPU;"
        ),
    },
    "lab02": {
        "peer_matrix": (
            "if (n < 0 || n > PEER_MAX_GPUS || (n > 0 && !can)) return LAB_EINVAL; "
            "if (n > 4) return LAB_ENOGPU; "
            "for (int i = 0; i < n * n; i++) can[i] = i / n != i % n; return LAB_OK;"
        ),
        "peer_attrs": (
            f"if (!attr) return LAB_EINVAL; {_PAIR}"
            "attr->access = attr->atomics = 1; attr->rank = 0; return LAB_OK;"
        ),
        "peer_enable": (
            "if (!undo || n < 0 || n > PEER_MAX_GPUS || (n > 0 && !gpu)) return LAB_EINVAL; "
            "undo->count = 0; "
            "for (int a = 0; a < n; a++) for (int b = 0; b < n; b++) if (a != b) "
            "{ undo->pair[undo->count].from = gpu[a]; undo->pair[undo->count++].to = gpu[b]; } "
            "return LAB_OK;"
        ),
        "peer_disable": (
            "if (!undo || undo->count < 0 || undo->count > PEER_MAX_PAIRS) return LAB_EINVAL; "
            "undo->count = 0; return LAB_OK;"
        ),
        "peer_class": "if (!attr || !kind) return LAB_EINVAL; *kind = PEER_ATOMIC; return LAB_OK;",
        "peer_probe": (
            f"if (!works) return LAB_EINVAL; {_PAIR}"
            "*works = PEER_STORES_ARRIVE | PEER_ATOMICS_ADD_UP; return LAB_OK;"
        ),
        "peer_dot": (
            "if (n < 0 || n > PEER_MAX_GPUS || (n > 0 && !attr) || !out) return LAB_EINVAL; "
            'fprintf(out, "digraph peers {\\n"); '
            'for (int i = 0; i < n; i++) fprintf(out, "gpu%d [label=\\"GPU %d\\"];\\n", i, i); '
            "for (int i = 0; i < n * n; i++) if (i / n != i % n) "
            'fprintf(out, "gpu%d -> gpu%d [label=\\"atomics\\"];\\n", i / n, i % n); '
            'fprintf(out, "}\\n"); return fflush(out) == 0 ? LAB_OK : LAB_ERANGE;'
        ),
    },
    "lab03": {
        "copy_path": (
            "if (!path) return LAB_EINVAL; "
            "if (dst_dev < 0 || dst_dev > 3 || src_dev < 0 || src_dev > 3) return LAB_ENOGPU; "
            "*path = dst_dev == src_dev ? PATH_LOCAL : PATH_PEER; return LAB_OK;"
        ),
        "p2p_measure": (
            f"if (!result || bytes == 0 || (both && from == to)) return LAB_EINVAL; {_TWO}"
            "result->bytes = bytes * (both ? 2 : 1); result->gbs = both ? 770.0 : 392.0; "
            "result->seconds = (double)result->bytes / result->gbs / 1e9; "
            "result->path = from == to ? PATH_LOCAL : PATH_PEER; return LAB_OK;"
        ),
        "p2p_matrix": (
            "if (n < 0 || bytes == 0 || !gbs) return LAB_EINVAL; if (n > 4) return LAB_ENOGPU; "
            "for (int i = 0; i < n * n; i++) gbs[i] = i / n == i % n ? 1900.0 : 392.0; "
            "return LAB_OK;"
        ),
        "p2p_half": (
            "if (!curve || points < 2 || !half) return LAB_EINVAL; *half = (size_t)1 << 20; "
            "return LAB_OK;"
        ),
    },
}


def usual(lab: str, names: list[str]) -> dict[str, str] | None:
    """What each of the lab's functions does; None where none of them knows the machine."""
    known = BODIES.get(lab)
    return {name: known.get(name, "return LAB_ECUDA;") for name in names} if known else None
