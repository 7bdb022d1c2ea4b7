# A server of memoria, by MCP or HTTP, for a Neo4j that runs elsewhere. The embedding model is part
# of the image.
#
#   docker build --tag memoria .
#   docker run --rm -i -e NEO4J_URI -e NEO4J_USERNAME -e NEO4J_PASSWORD memoria mcp --scope alice
FROM python:3.13-slim AS build
WORKDIR /source
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /opt/memoria
COPY locks/image.txt locks/
RUN /opt/memoria/bin/pip install --quiet --no-deps --require-hashes --requirement locks/image.txt
COPY . .
RUN /opt/memoria/bin/pip install --quiet --no-deps --no-build-isolation .
RUN MEMORIA_HOME=/var/lib/memoria /opt/memoria/bin/python -c \
    "import asyncio, memoria; asyncio.run(memoria.OnnxEmbedder().load())"

FROM python:3.13-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/memoria memoria
COPY --from=build /opt/memoria /opt/memoria
COPY --from=build --chown=memoria /var/lib/memoria /var/lib/memoria
ENV PATH=/opt/memoria/bin:$PATH PYTHONUNBUFFERED=1 MEMORIA_HOME=/var/lib/memoria
# A number, so that Kubernetes can check that it is not root.
USER 10001
ENTRYPOINT ["memoria"]
CMD ["mcp"]
