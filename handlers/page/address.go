package page

import (
	"net/url"
	"strconv"
	"strings"

	"cointill/core/fault"
)

// ReturnPath returns the dashboard's page on which a switch was pressed, otherwise the
// fallback.
func ReturnPath(c *Ctx, fallback string) string {
	named := c.Get("HX-Current-URL")
	if named == "" {
		named = c.Get("Referer")
	}
	from, err := url.Parse(named)
	if err != nil || !strings.HasPrefix(from.Path, "/dashboard") {
		return fallback
	}
	return LocalPath((&url.URL{Path: from.Path, RawQuery: from.RawQuery}).String(), fallback)
}

// ReadID reads the id in the address. A text that is not a number is NotFound, like an unknown
// id.
func ReadID(c *Ctx, thing string) (int64, error) {
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, fault.Missing(thing)
	}
	return id, nil
}

// ReadQuery reads the query of a request's address. Unreadable parts are left out.
func ReadQuery(c *Ctx) url.Values {
	values, _ := url.ParseQuery(string(c.Request().URI().QueryString()))
	return values
}

// ReadBefore is where a page of a list begins; 0 is its start.
func ReadBefore(c *Ctx) int64 {
	n, err := strconv.ParseInt(c.Query("before"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// DashboardPath returns the path if signing in may lead to it, otherwise "".
func DashboardPath(path string) string {
	if !strings.HasPrefix(path, "/dashboard") && !strings.HasPrefix(path, "/invitation/") {
		return ""
	}
	return LocalPath(path, "")
}
