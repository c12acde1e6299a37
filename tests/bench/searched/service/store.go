package service

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// Store keeps values in files of one folder.
type Store struct {
	dir string
}

// Save writes a value.
func (s *Store) Save(key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return os.WriteFile(s.file(key), raw, 0o666)
}

// Load reads a value.
func (s *Store) Load(key string, into any) error {
	raw, err := os.ReadFile(s.file(key))
	if err != nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// Delete removes a value.
func (s *Store) Delete(key string) error {
	return os.Remove(s.file(key))
}

// Keys lists what is kept.
func (s *Store) Keys() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, entry := range entries {
		keys = append(keys, strings.TrimRight(entry.Name(), ".json"))
	}
	return keys, nil
}

func (s *Store) file(key string) string {
	return filepath.Join(s.dir, key+".json")
}
