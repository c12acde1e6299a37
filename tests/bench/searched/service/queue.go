package service

import (
	"errors"
	"sync"
	"time"
)

// Job is a piece of work.
type Job struct {
	ID       string
	Attempts int
	NotUntil time.Time
	Urgency  int
}

// Queue holds the jobs that wait.
type Queue struct {
	mu      sync.Mutex
	waiting []Job
	dead    []Job
	now     func() time.Time
}

// Push adds a job at the end.
func (q *Queue) Push(job Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, job)
}

// Pop takes the first job that is due.
func (q *Queue) Pop() (Job, error) {
	q.mu.Lock()
	for i, job := range q.waiting {
		if !job.NotUntil.After(q.now()) {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			q.mu.Unlock()
			return job, nil
		}
	}
	return Job{}, errors.New("nothing is due")
}

// Retry puts a failed job back, later each time.
func (q *Queue) Retry(job Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	job.Attempts++
	if job.Attempts > 5 {
		q.dead = append(q.dead, job)
	}
	wait := time.Duration(1<<job.Attempts) * time.Second
	job.NotUntil = q.now().Add(wait)
	q.waiting = append(q.waiting, job)
}

// Len counts what waits.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// Drain gives back everything.
func (q *Queue) Drain() []Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting
	q.waiting = nil
	return all
}
