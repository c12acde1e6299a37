package app;

/** One line of a bill. */
public record Position(String text, long cents, int count) {
    public long total() {
        return cents * count;
    }
}
