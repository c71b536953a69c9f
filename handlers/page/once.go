package page

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"

	"github.com/valyala/fasthttp"

	"cointill/core/idempotency"
)

// RunOnce carries out a form that creates something, unless it was sent before, by a second
// click or by going back. The result of render is stored, encrypted; a repeated form gets it
// as before, which is nil for the first. Forms carry the hidden field once for it
// (ui.SentOnce), with a new value each time they are shown; a form with other values is
// another form.
func RunOnce(answers *idempotency.Store, c *Ctx, act func(ctx context.Context) error,
	render func(result any) ([]byte, error)) (before []byte, err error) {
	claim, first, err := claimForm(answers, c)
	if err != nil {
		return nil, err
	}
	if first != nil {
		return first.Body, nil
	}
	err = act(idempotency.With(c.UserContext(), claim, func(result any) (idempotency.Answer, error) {
		body, err := render(result)
		return idempotency.Answer{Status: http.StatusOK, Body: body}, err
	}))
	var twin *idempotency.Answered
	if errors.As(err, &twin) {
		return twin.Answer.Body, nil
	}
	return nil, err
}

// RedirectOnce carries out a form that makes something, once, and leads to where that is
// (place), each time that it is sent.
func RedirectOnce[T any](answers *idempotency.Store, c *Ctx, act func(ctx context.Context) (T, error),
	place func(T) string) error {
	var made T
	before, err := RunOnce(answers, c, func(ctx context.Context) (err error) {
		made, err = act(ctx)
		return err
	}, func(result any) ([]byte, error) {
		made, ok := result.(T)
		if !ok {
			return nil, fmt.Errorf("dashboard: a form made a %T", result)
		}
		return []byte(place(made)), nil
	})
	if err != nil {
		return err
	}
	if before != nil {
		return c.Redirect(string(before))
	}
	return c.Redirect(place(made))
}

// noncePattern are what pages give out; anything else is as good as none.
var noncePattern = regexp.MustCompile(`^once_[0-9A-Z]{1,40}$`)

// claimForm is the form's claim to be the first, and what the first made; neither
// for a form without the field.
func claimForm(answers *idempotency.Store, c *Ctx) (*idempotency.Claim, *idempotency.Answer, error) {
	nonce := c.FormText("once")
	if !noncePattern.MatchString(nonce) {
		return nil, nil, nil
	}
	sum, err := hashForm(c)
	if err != nil {
		return nil, nil, err
	}
	claim, err := answers.Claim(c.Scope, "form "+nonce+" "+sum, http.MethodPost, c.Path(), nil)
	if err != nil {
		return nil, nil, err
	}
	before, err := answers.Replay(c.UserContext(), claim)
	return claim, before, err
}

// hashForm returns a hash of the form's address, fields and files. The form's token differs on each page
// and is not a part of the request.
func hashForm(c *Ctx) (string, error) {
	query := url.Values{}
	for name, value := range c.Context().PostArgs().All() {
		query.Add(string(name), string(value))
	}
	var files map[string][]*multipart.FileHeader
	form, err := c.MultipartForm()
	switch {
	case err == nil:
		files = form.File
		for name, values := range form.Value {
			query[name] = append(query[name], values...)
		}
	case !errors.Is(err, fasthttp.ErrNoMultipartForm):
		return "", err
	}
	query.Del("csrf")
	for name, parts := range files {
		for _, part := range parts {
			sum, err := hashFile(part)
			if err != nil {
				return "", err
			}
			query.Add("file "+name, sum)
		}
	}
	sum := sha256.Sum256([]byte(c.Path() + "\n" + query.Encode()))
	return hex.EncodeToString(sum[:]), nil
}

// hashFile returns the hash of a file's content.
func hashFile(part *multipart.FileHeader) (string, error) {
	file, err := part.Open()
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
