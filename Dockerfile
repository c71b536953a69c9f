# docker build -t cointill . && docker run -p 8080:8080 -v cointill:/data -v cointill-marks:/marks cointill
FROM golang:1.26-bookworm AS build
WORKDIR /source
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=development
RUN cold=$(scripts/cold) && CGO_ENABLED=0 go build -trimpath $cold \
	-ldflags="-s -w -X cointill/internal/app.Version=$VERSION" -o /cointill ./cmd/cointill \
	&& mkdir -m 0700 /data

# Nothing but the program, the certificate authorities it trusts, and its data.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /cointill /cointill
COPY --from=build --chown=65532:65532 /data /data
COPY --from=build --chown=65532:65532 /data /marks
COPY --from=build --chown=65532:65532 /data /tmp
USER 65532:65532
ENV COINTILL_LISTEN=0.0.0.0:8080 COINTILL_DATA_DIR=/data COINTILL_ADDRESS_MARKS=/data/address-marks,/marks
VOLUME /data /marks
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=20s --retries=3 CMD ["/cointill", "healthcheck"]
ENTRYPOINT ["/cointill"]
