package web

import (
	"net/http"

	"cointill/core/account/auth"
)

// deviceName is the cookie by which a browser is known again after its session
// ended. It opens nothing: it only tells a new browser from one that was used before.
func (s *Server) deviceName() string {
	if s.https {
		return "__Host-device"
	}
	return "device"
}

func (s *Server) deviceCookie(token string) *http.Cookie {
	return &http.Cookie{Name: s.deviceName(), Value: token, Path: "/", MaxAge: int(auth.DeviceLife.Seconds()),
		HttpOnly: true, Secure: s.https, SameSite: http.SameSiteLaxMode}
}

// Device is what the browser's cookie holds; "" when it has none.
func (l *login) Device() string {
	cookie, err := l.request.Cookie(l.server.deviceName())
	if err != nil || len(cookie.Value) > 64 {
		return ""
	}
	return cookie.Value
}

// SetDevice gives the browser its cookie.
func (l *login) SetDevice(token string) { l.device = token }
