package service

import (
	"fmt"
	"sort"
	"sync"
)

// Metrics counts what happens.
type Metrics struct {
	mu     sync.Mutex
	counts map[string]int
}

// Add raises a count.
func (m *Metrics) Add(name string, by int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[name] += by
}

// Text shows all counts, one a line.
func (m *Metrics) Text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for name := range m.counts {
		names = append(names, name)
	}
	sort.Strings(names)
	told := ""
	for _, name := range names {
		told += fmt.Sprintf("%s %d\n", name, m.counts[name])
	}
	return told
}
