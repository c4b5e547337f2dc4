"""A real vLLM server on the CPU, with two models and two adapters."""

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from .vllm_models import CONTEXT, make, make_adapter

SERVER = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    "VLLM_SERVER_DEV_MODE": "1",
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
}


class Served(NamedTuple):
    """A running server, its two models and adapters."""

    url: str
    version: str
    first: Path
    other: Path
    adapters: list[Path]


@contextmanager
def serve(python: str, tokenizer: Path, root: Path) -> Iterator[Served]:
    """Run a server until the end of the block.

    Args:
        python: that has vllm.
        tokenizer: a directory with one.
        root: directory for the models.
    """
    first, other = (make(root / name, tokenizer, seed) for seed, name in enumerate(("first", "other")))
    adapters = [make_adapter(root / f"adapter{seed}", seed) for seed in (1, 2)]
    version = subprocess.check_output([python, "-c", "import vllm; print(vllm.__version__)"], text=True).split()[-1]
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [python, "-m", "vllm.entrypoints.openai.api_server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--model", str(first), "--served-model-name", "tiny", "--dtype", "float32", "--enforce-eager"]
    command += ["--max-model-len", str(CONTEXT), "--max-num-seqs", "16", "--logprobs-mode", "processed_logprobs"]
    command += ["--enable-lora", "--max-lora-rank", "16", "--max-loras", "2"]
    command += ["--enable-scale-out"] if tuple(map(int, version.split(".")[:2])) >= (0, 32) else []
    process = subprocess.Popen(
        command, env=os.environ | SERVER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if "Application startup complete" in line:
            break
    else:
        pytest.fail("vLLM did not start:\n" + "".join(said[-40:]))
    reader = threading.Thread(target=process.stdout.read)
    reader.start()
    try:
        yield Served(f"http://127.0.0.1:{port}", version, first, other, adapters)
    finally:
        process.terminate()
        process.wait(60)
        reader.join(60)
        process.stdout.close()
