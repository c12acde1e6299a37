package app;

import java.util.ArrayList;
import java.util.List;

/** A bill with its positions. */
public class Invoice {
    private final List<Position> positions = new ArrayList<>();
    private final String country;
    private boolean sealed;

    public Invoice(String country) {
        this.country = country;
    }

    public void add(Position position) {
        positions.add(position);
    }

    public long net() {
        long sum = 0;
        for (Position position : positions) {
            sum += position.cents() * position.count();
        }
        return sum;
    }

    public long tax() {
        int percent = switch (country) {
            case "DE" -> 19;
            case "FR" -> 20;
            case "CH" -> 19;
            default -> 0;
        };
        return net() * percent / 100;
    }

    public long gross() {
        return net() + tax();
    }

    public void seal() {
        sealed = true;
    }

    public String numberFor(int year, int running) {
        return year + "-" + running;
    }

    public List<Position> positions() {
        return positions;
    }

    public boolean isOverdue(long dueDay, long today) {
        return today >= dueDay;
    }
}
