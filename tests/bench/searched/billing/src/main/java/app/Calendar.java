package app;

/** Days by number, as the ledger counts them. */
public class Calendar {
    public long dueDay(long issued, int daysToPay) {
        return issued + daysToPay;
    }

    public boolean isWeekend(long day) {
        return day % 7 >= 5;
    }

    public long nextWorkday(long day) {
        long found = day;
        while (isWeekend(found)) {
            found++;
        }
        return found;
    }
}
