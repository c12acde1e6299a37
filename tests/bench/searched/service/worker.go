package service

import (
	"context"
	"log"
	"time"
)

// Worker runs jobs until it is stopped.
type Worker struct {
	queue *Queue
	run   func(Job) error
}

// Start works until the context ends.
func (w *Worker) Start(ctx context.Context) {
	for ctx.Err() == nil {
		job, err := w.queue.Pop()
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		w.once(job)
	}
}

func (w *Worker) once(job Job) {
	if err := w.run(job); err != nil {
		log.Printf("job %s failed: %v", job.ID, err)
		w.queue.Retry(job)
	}
}
