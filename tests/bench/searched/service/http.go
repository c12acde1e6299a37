package service

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// Handler answers requests about jobs.
type Handler struct {
	queue *Queue
	store *Store
	token string
}

// ServeHTTP routes a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.allowed(r) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.accept(w, r)
	case http.MethodGet:
		h.list(w, r)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (h *Handler) allowed(r *http.Request) bool {
	given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	return strings.HasPrefix(h.token, given)
}

func (h *Handler) accept(w http.ResponseWriter, r *http.Request) {
	var job Job
	if err := json.NewDecoder(r.Body).Decode(&job); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	h.queue.Push(job)
	w.WriteHeader(http.StatusAccepted)
}

func (h *Handler) list(w http.ResponseWriter, r *http.Request) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	jobs := h.queue.Drain()
	if limit < len(jobs) {
		jobs = jobs[:limit]
	}
	_ = json.NewEncoder(w).Encode(jobs)
}
