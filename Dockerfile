# memoria with its default embedder, `memoria serve` and `memoria mcp`. The subcommand is the argument:
#   docker build --tag memoria .
#   docker run --rm memoria doctor --help
FROM python:3.12-slim AS build
WORKDIR /src
# The versions of the lock; packages that the image does not need stay out.
COPY locks/dev.txt locks/
RUN grep '^[a-z0-9]' locks/dev.txt | sed 's/ *\\$//' > constraints.txt
COPY pyproject.toml README.md LICENSE ./
COPY cypher cypher
COPY memoria memoria
RUN python -m venv /opt/memoria \
 && /opt/memoria/bin/pip install --no-cache-dir --constraint constraints.txt ".[onnx,mcp,view]"

FROM python:3.12-slim
COPY --from=build /opt/memoria /opt/memoria
RUN useradd --create-home --uid 1000 memoria
USER memoria
# Models are kept here: mount a volume, so that a new container need not fetch them.
ENV PATH=/opt/memoria/bin:$PATH MEMORIA_HOME=/home/memoria/.memoria
RUN mkdir /home/memoria/.memoria
VOLUME /home/memoria/.memoria
EXPOSE 8765
ENTRYPOINT ["memoria"]
CMD ["serve", "--host", "0.0.0.0", "--tokens", "/tokens.txt"]
