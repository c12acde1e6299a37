package service

import (
	"os"
	"strconv"
	"time"
)

// Config is read from the environment.
type Config struct {
	Address string
	Token   string
	Pause   time.Duration
}

// FromEnvironment reads all settings.
func FromEnvironment() Config {
	return Config{Address: text("ADDRESS", ":8080"), Token: os.Getenv("TOKEN"), Pause: seconds("PAUSE", 5)}
}

func text(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

func seconds(name string, fallback int) time.Duration {
	count, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		count = fallback
	}
	return time.Duration(count) * time.Second
}
