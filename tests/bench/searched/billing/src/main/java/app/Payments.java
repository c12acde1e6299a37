package app;

import java.util.HashMap;
import java.util.Map;

/** Incoming money, and what it settles. */
public class Payments {
    private final Map<String, Long> open = new HashMap<>();
    private final Map<String, Long> credit = new HashMap<>();

    public void expect(String invoice, long cents) {
        open.put(invoice, cents);
    }

    public void book(String invoice, long cents) {
        long left = open.getOrDefault(invoice, 0L) - cents;
        open.put(invoice, left);
        if (left <= 0) {
            open.remove(invoice);
        }
    }

    public void refund(String invoice, long cents) {
        credit.merge(invoice, cents, Long::sum);
        open.merge(invoice, cents, Long::sum);
    }

    public long outstanding() {
        long sum = 0;
        for (long cents : open.values()) {
            sum += cents;
        }
        return sum;
    }

    public int dunningLevel(int daysLate) {
        if (daysLate > 14) {
            return 1;
        }
        if (daysLate > 30) {
            return 2;
        }
        return 0;
    }

    public boolean isSettled(String invoice) {
        return !open.containsKey(invoice);
    }
}
