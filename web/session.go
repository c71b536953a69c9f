package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/gorilla/sessions"

	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/ident"
)

// What a session's values hold beside what handlers set, as text: JSON would
// turn a number into a float.
const (
	userKey    = "user"    // the user's id
	expiresKey = "expires" // when it ends in any case
	rightsKey  = "rights"  // the business and role that it was last used with
)

// fromKey is the key of the client's address in the context of a converted request.
type fromKey struct{}

// store keeps gorilla's sessions in the database. The cookie holds a random
// token and nothing else. A session that remembers nothing has no row: a
// visitor costs the database nothing.
type store struct {
	sessions *auth.Sessions
	name     string
	options  sessions.Options
}

func newStore(kept *auth.Sessions, https bool) *store {
	st := &store{sessions: kept, name: "session",
		options: sessions.Options{Path: "/", MaxAge: int(auth.SessionLife.Seconds()),
			HttpOnly: true, SameSite: http.SameSiteLaxMode}}
	if https { // the prefix makes browsers refuse one that another host or path set
		st.name, st.options.Secure = "__Host-session", true
	}
	return st
}

var _ sessions.Store = (*store)(nil)

// Get is the session of the request, the same one each time it is asked.
func (st *store) Get(r *http.Request, name string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(st, name)
}

// New reads the session that the cookie names. An unknown or ended one gives a
// new session; a database that doesn't answer is an error, not a sign-out.
func (st *store) New(r *http.Request, name string) (*sessions.Session, error) {
	session := sessions.NewSession(st, name)
	options := st.options
	session.Options, session.IsNew, session.ID = &options, true, ident.NewToken()
	cookie, err := r.Cookie(name)
	if err != nil || len(cookie.Value) != len(session.ID) {
		return session, nil // no cookie of ours
	}
	session.ID = cookie.Value
	err = st.loadValues(r.Context(), session)
	session.IsNew = err != nil
	if fault.KindOf(err) == fault.NotFound {
		return session, nil
	}
	return session, err
}

// loadValues reads what the session of an id remembers.
func (st *store) loadValues(ctx context.Context, session *sessions.Session) error {
	found, err := st.sessions.LoadSession(ctx, session.ID)
	if err != nil {
		return err
	}
	values := map[string]string{}
	if err := json.Unmarshal([]byte(found.Data), &values); err != nil {
		return fmt.Errorf("session data: %w", err)
	}
	clear(session.Values)
	for key, value := range values {
		session.Values[key] = value
	}
	if found.UserID != 0 {
		session.Values[userKey] = strconv.FormatInt(found.UserID, 10)
		session.Values[expiresKey] = found.Expires.Format(time.RFC3339Nano)
	}
	return nil
}

// setValue remembers a text; "" forgets it.
func setValue(session *sessions.Session, key, value string) {
	session.Values[key] = value
	if value == "" {
		delete(session.Values, key)
	}
}

// Save writes what the session remembers, and the cookie when the browser
// hasn't got it. A negative MaxAge ends the session.
func (st *store) Save(r *http.Request, w http.ResponseWriter, session *sessions.Session) error {
	if session.Options.MaxAge < 0 {
		http.SetCookie(w, sessions.NewCookie(session.Name(), "", session.Options))
		return st.sessions.RevokeSession(r.Context(), session.ID)
	}
	if !session.IsNew || len(session.Values) > 0 {
		row, err := plain(session, r)
		if err == nil {
			err = st.sessions.SaveSession(r.Context(), row)
		}
		if err != nil {
			return err
		}
	}
	if session.IsNew {
		http.SetCookie(w, sessions.NewCookie(session.Name(), session.ID, session.Options))
	}
	return nil
}

// Rotate saves the session, which has a new id already; the old one is worth nothing
// afterwards. Where another request of the browser has made the new one, it gets the changes
// of this request. One that was ended meanwhile stays ended: the browser keeps its cookie, which
// opens nothing.
func (st *store) Rotate(r *http.Request, w http.ResponseWriter, old string, session *sessions.Session,
	changes map[string]string) error {
	row, err := plain(session, r)
	if err != nil {
		return err
	}
	_, err = st.sessions.RotateSession(r.Context(), old, row)
	if fault.KindOf(err) == fault.NotFound { // ended, or another request of the browser has replaced it
		if err = st.loadValues(r.Context(), session); err == nil {
			for key, value := range changes {
				setValue(session, key, value)
			}
			err = st.Save(r, w, session)
		}
	}
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	session.IsNew = false
	http.SetCookie(w, sessions.NewCookie(session.Name(), session.ID, session.Options))
	return nil
}

// plain is the session as core keeps it.
func plain(session *sessions.Session, r *http.Request) (auth.Session, error) {
	out := auth.Session{Token: session.ID, UserAgent: r.UserAgent()}
	out.IP, _ = r.Context().Value(fromKey{}).(string)
	values := map[string]string{}
	for key, value := range session.Values {
		name, text := fmt.Sprint(key), fmt.Sprint(value)
		switch name {
		case userKey:
			out.UserID, _ = strconv.ParseInt(text, 10, 64) // we wrote it
		case expiresKey:
			out.Expires, _ = time.Parse(time.RFC3339Nano, text) // likewise
		default:
			values[name] = text
		}
	}
	data, err := json.Marshal(values)
	out.Data = string(data)
	return out, err
}

// login is the session as a handler sees it: page.Session.
type login struct {
	server  *Server
	request *http.Request
	session *sessions.Session

	sent            bool              // the browser sent this token
	changes         map[string]string // what this request set
	rotate, welcome bool              // what finish has to do; welcome: give a visitor the cookie
	old             string            // the id that a rotation replaces
	device          string            // to give the browser
}

// open reads the request's session. Its converted request is kept, because
// gorilla's state hangs on it.
func (s *Server) open(c *fiber.Ctx) (*login, error) {
	r, err := adaptor.ConvertRequest(c, false)
	if err != nil {
		return nil, fiber.ErrBadRequest // an address that net/url can't read
	}
	r = r.WithContext(context.WithValue(c.UserContext(), fromKey{}, s.clientIP(c)))
	session, err := s.store.Get(r, s.store.name)
	if err != nil {
		return nil, err
	}
	cookie, _ := r.Cookie(s.store.name)
	return &login{server: s, request: r, session: session, changes: map[string]string{},
		sent: cookie != nil && cookie.Value == session.ID}, nil
}

// User is whose session it is.
func (l *login) User() int64 {
	text, _ := l.session.Values[userKey].(string)
	id, _ := strconv.ParseInt(text, 10, 64) // "" is not signed in
	return id
}

// Value returns the value of a key, or "" when it isn't set.
func (l *login) Value(key string) string {
	text, _ := l.session.Values[key].(string)
	return text
}

// Set remembers a short text; "" forgets it.
func (l *login) Set(key, value string) {
	if key == userKey || key == expiresKey || l.Value(key) == value {
		return
	}
	setValue(l.session, key, value)
	l.changes[key] = value
}

// SignIn makes the session a user's, under a new id. What a visitor's session
// remembered of signing in, or another user's of their rights, is gone.
func (l *login) SignIn(userID int64) {
	for key := range l.session.Values {
		if key != userKey && fmt.Sprint(key) != "domain" {
			delete(l.session.Values, key)
		}
	}
	l.session.Values[userKey] = strconv.FormatInt(userID, 10)
	l.Rotate()
}

// Rotate gives the session a new id: forms that are written from here on carry
// its token. finish puts it in the old one's place.
func (l *login) Rotate() { l.rotateTo(ident.NewToken()) }

// rotateTo gives the session an id. Of several in one request the last counts.
func (l *login) rotateTo(id string) {
	if l.session.Options.MaxAge < 0 {
		return
	}
	if !l.rotate {
		l.rotate, l.old = true, l.session.ID
	}
	l.session.ID = id
}

// Key names the session in lists, by the id that it came with.
func (l *login) Key() string {
	if l.rotate {
		return auth.SessionKey(l.old)
	}
	return auth.SessionKey(l.session.ID)
}

// rights notes with which rights the session acts. When they changed since its
// last request it gets a new id. Only this server can make it from the former id: requests
// of the browser that are under way together get the same one, and the forms of all their
// answers work.
func (l *login) rights(now string) {
	before := l.Value(rightsKey)
	l.Set(rightsKey, now)
	if before != "" && before != now {
		l.rotateTo(l.server.Secret.Derive("session with changed rights", l.session.ID+" "+now))
	}
}

// SignOut ends the session.
func (l *login) SignOut() {
	if l.rotate {
		l.session.ID = l.old
	}
	l.session.Options.MaxAge, l.rotate = -1, false
}

// finish saves changes and adds the cookie to the answer, once.
func (l *login) finish(c *fiber.Ctx) error {
	w := headerOnly{}
	var err error
	switch {
	case l.rotate:
		err = l.server.store.Rotate(l.request, w, l.old, l.session, l.changes)
	case l.session.Options.MaxAge < 0, len(l.changes) > 0, l.welcome && !l.sent:
		err = l.server.store.Save(l.request, w, l.session)
	}
	if l.device != "" {
		http.SetCookie(w, l.server.deviceCookie(l.device))
	}
	for _, line := range http.Header(w).Values("Set-Cookie") {
		c.Response().Header.Add("Set-Cookie", line)
	}
	return err
}

// headerOnly is all that gorilla asks of an answer.
type headerOnly http.Header

// Header gives the header to write to.
func (h headerOnly) Header() http.Header { return http.Header(h) }

// Write discards a body.
func (h headerOnly) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader discards a status.
func (h headerOnly) WriteHeader(int) {}
