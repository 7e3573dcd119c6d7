# SPDX-License-Identifier: MIT
"""What a function may do, other than refused.py asks, when a call of CUDA in it fails."""

# Functions that are not called once more when they have failed, each with the reason.
_QUEUED = "what was queued before the failure runs; the cases count it, or another call meets it"
ENDS = {
    "stage_copy_async": _QUEUED,
    "p2p_copy": _QUEUED,
    "sum_start": _QUEUED,
    "sum_peer": _QUEUED,
    "ring_put": _QUEUED,
    "ring_take": "the message of the previous rank has been heard",
    "ring_reduce_scatter": _QUEUED,
    "ring_all_gather": _QUEUED,
    "ring_all_reduce": _QUEUED,
    "ring_pipelined": _QUEUED,
    "ring_one_shot": _QUEUED,
    "ring_pick": _QUEUED,
    "zero_gather": _QUEUED,
    "zero_reduce": _QUEUED,
    "zero_bus": _QUEUED,
    "zero_step": "rules of run.h: the step ends",
}

_POINTERS = "gpu_of, which comes with the lab: memory that CUDA says nothing of is no GPU's"
_PEER_OFF = "one call of CUDA switches access off; where that cannot be made, access stays on"
_ALL_ZERO = "the contract: nothing is left, and it is all zero"

# (functions, calls of CUDA, what, why): "device", "error", "result", "again", "waits",
# "*parameter", "case" (it told the error, and the case fails), "success" (it told none).
PASSED = (
    ("inv_by_bus", "cudaDeviceGetByPCIBusId", "result", "no other error is in its contract"),
    (
        "peer_disable",
        "cudaSetDevice cudaDeviceDisablePeerAccess",
        "*undo",
        "it goes on with the others",
    ),
    (
        "peer_enable peer_disable peer_probe",
        "cudaGetDevice cudaSetDevice",
        "case",
        _PEER_OFF,
    ),
    ("p2p_measure p2p_matrix", "cudaGetDevice cudaSetDevice", "case success", _PEER_OFF),
    (
        "copy_peer_async stage_copy_async p2p_copy p2p_measure p2p_matrix",
        "cudaPointerGetAttributes",
        "result",
        _POINTERS,
    ),
    (
        "ring_put ring_take",
        "cudaStreamWaitEvent cudaMemcpyAsync cudaEventRecord",
        "waits",
        "the neighbours wait PEERS_WAIT_MS for what was not sent, the harness not so long",
    ),
    ("sum_start", "cudaStreamSynchronize", "case", "a wait that fails has not waited"),
    (
        "ipc_close",
        "any",
        "*ring",
        _ALL_ZERO,
    ),
    ("zero_memory zero_step", "any", "device", "rules of run.h: another one may be current"),
    ("zero_memory", "any", "*run", "the ledgers in it know what was held for a moment"),
    ("zero_step", "any", "*run", "run->failed says which operation failed"),
    ("vmm_free", "any", "*v", _ALL_ZERO),
)
