package web

import (
	"net/http"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"cointill/static"
)

// assets serves the embedded files, each packed once, when it is first asked for.
type assets struct{ packed sync.Map } // name → func() packed

type packed struct{ brotli, gzip []byte }

// onlyOnPages are headers that browsers heed on documents alone. On scripts and
// stylesheets they were a tenth of what the payment page weighs.
var onlyOnPages = []string{"Content-Security-Policy", "X-Frame-Options", "Referrer-Policy",
	"Cross-Origin-Opener-Policy", "Permissions-Policy", "X-Request-Id"}

func (a *assets) serve(c *fiber.Ctx) error {
	if err := a.serveFile(c, c.Params("*")); err != nil {
		return err
	}
	// An SVG is a document when it is opened by itself.
	if string(c.Response().Header.ContentType()) != "image/svg+xml" {
		for _, name := range onlyOnPages {
			c.Response().Header.Del(name)
		}
	}
	return nil
}

// serveWorker serves the service worker under a fixed address: a browser keeps asking that one for changes.
func (a *assets) serveWorker(c *fiber.Ctx) error { return a.serveFile(c, "0/"+static.WorkerName) }

func (a *assets) serveFile(c *fiber.Ctx, rest string) error {
	file, found := static.Open(rest)
	if !found {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderCacheControl, "no-cache")
	if file.Immutable {
		c.Set(fiber.HeaderCacheControl, static.CacheControl)
	}
	c.Set(fiber.HeaderContentType, file.ContentType)
	c.Vary(fiber.HeaderAcceptEncoding)
	body := file.Body
	if strings.HasPrefix(file.ContentType, "text/") || file.ContentType == "image/svg+xml" {
		_, name, _ := strings.Cut(rest, "/") // whatever hash was asked for, there is one content
		pack, _ := a.packed.LoadOrStore(name, sync.OnceValue(func() packed { return pack(file.Body) }))
		ready := pack.(func() packed)()
		switch accepts := &c.Request().Header; {
		case accepts.HasAcceptEncoding("br"):
			c.Set(fiber.HeaderContentEncoding, "br")
			body = ready.brotli
		case accepts.HasAcceptEncoding("gzip"):
			c.Set(fiber.HeaderContentEncoding, "gzip")
			body = ready.gzip
		}
	}
	return c.Status(http.StatusOK).Send(body)
}

func pack(body []byte) packed {
	return packed{brotli: fasthttp.AppendBrotliBytesLevel(nil, body, fasthttp.CompressBrotliBestCompression),
		gzip: fasthttp.AppendGzipBytesLevel(nil, body, fasthttp.CompressBestCompression)}
}
