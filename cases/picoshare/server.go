package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/highwater-go/highwater/cases/internal/faults"
)

// server is the HTTP side of a store.
type server struct {
	store  *store
	key    []byte // sessions are signed with it
	faults *faults.Set
}

func newServer(s *store, secret string, f *faults.Set) http.Handler {
	key := sha256.Sum256([]byte(secret))
	v := &server{store: s, key: key[:], faults: f}
	r := mux.NewRouter()
	r.HandleFunc("/login", v.login).Methods("POST")
	r.HandleFunc("/logout", v.logout).Methods("POST")
	r.HandleFunc("/f/{id}", v.download).Methods("GET", "HEAD")
	r.HandleFunc("/", v.page).Methods("GET")

	api := r.PathPrefix("/api").Subrouter()
	api.Use(v.loggedIn)
	api.HandleFunc("/entries", v.list).Methods("GET")
	api.HandleFunc("/entries", v.upload).Methods("POST")
	api.HandleFunc("/entries/{id}", v.remove).Methods("DELETE")
	api.HandleFunc("/vacuum", v.vacuum).Methods("POST")
	return r
}

const cookieName = "picoshare"

// session is the cookie's value: whoever has it has known the secret. It holds
// until the secret changes.
func (s *server) session() string {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte("picoshare session"))
	return hex.EncodeToString(m.Sum(nil))
}

func (s *server) known(r *http.Request) bool {
	c, err := r.Cookie(cookieName)
	return err == nil && hmac.Equal([]byte(c.Value), []byte(s.session()))
}

// loggedIn lets requests with the cookie pass.
func (s *server) loggedIn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.known(r) {
			http.Error(w, "log in first", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	given := sha256.Sum256([]byte(r.PostFormValue("secret")))
	if !hmac.Equal(given[:], s.key) {
		http.Error(w, "this is not the secret", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: s.session(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *server) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: cookieName, Path: "/", MaxAge: -1})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	entries, err := s.store.list(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, http.StatusOK, entries)
}

func (s *server) remove(w http.ResponseWriter, r *http.Request) {
	if err := s.store.remove(r.Context(), mux.Vars(r)["id"]); err != nil {
		fail(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) vacuum(w http.ResponseWriter, r *http.Request) {
	if err := s.store.vacuum(r.Context()); err != nil {
		fail(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print("answer: ", err)
	}
}

// fail tells the client what it can use, and the log the rest.
func fail(w http.ResponseWriter, err error) {
	if errors.Is(err, errNoEntry) {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	log.Print(err)
	http.Error(w, "the server could not do this", http.StatusInternalServerError)
}
