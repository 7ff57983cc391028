FROM python:3.13-slim

WORKDIR /opt/footnote
COPY requirements.lock .
RUN pip install --no-cache-dir --require-hashes --requirement requirements.lock

COPY pyproject.toml README.md LICENSE ./
COPY bots bots
COPY config config
COPY rag rag
COPY storage storage
RUN pip install --no-cache-dir --no-deps --no-build-isolation . \
    && useradd --system --create-home --home-dir /var/lib/footnote footnote

USER footnote
ENV FOOTNOTE_HOME=/var/lib/footnote
VOLUME /var/lib/footnote
WORKDIR /srv/footnote

ENTRYPOINT ["footnote"]
CMD ["run"]
