package listing

import (
	"strconv"

	"cointill/handlers/page"
	"cointill/views/words"
)

// CountNewRows names the newest row of a list's first page and, where the script of an open page asks, says how many
// rows came after the page was opened: at most as many as a page has. word is the message.
func CountNewRows[T any](c *page.Ctx, word string, rows []T, idOf func(T) int64) (newest, news string) {
	if len(rows) > 0 {
		newest = strconv.FormatInt(idOf(rows[0]), 10)
	}
	since, asked := c.LiveSince()
	if !asked {
		return newest, ""
	}
	last, _ := strconv.ParseInt(since, 10, 64) // 0 for a list that was empty
	count := 0
	for _, row := range rows {
		if idOf(row) > last {
			count++
		}
	}
	if count == 0 {
		return newest, ""
	}
	return newest, words.N(c.UserContext(), word, count)
}
