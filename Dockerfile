# A small image that runs as a normal user. By default it serves one client on standard input and output, and listens on
# nothing; `dist/README.md` says how to serve over HTTP.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --package toolgate \
 && mkdir -p /made/folders \
 && mkdir -m 700 /made/folders/data \
 && mkdir -m 755 /made/folders/workspace \
 && cp target/release/toolgate /made/toolgate

# No shell and no package manager; its user `nonroot` is 65532.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /made/toolgate /usr/local/bin/toolgate
# The folder above them is named: of a folder that is named itself only what it holds is copied, and not its mode.
COPY --from=build --chown=65532:65532 /made/folders/ /
ENV TOOLGATE_DATA_DIR=/data TOOLGATE_WORKSPACE=/workspace
# Not the workspace: a `toolgate.toml` that an agent wrote there must not configure the next start.
WORKDIR /
USER 65532:65532
EXPOSE 3000
ENTRYPOINT ["/usr/local/bin/toolgate"]
CMD ["serve"]
