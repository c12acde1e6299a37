package app;

/** Reductions for loyal customers. */
public class Discounts {
    public int percentFor(int yearsAsCustomer) {
        return Math.min(yearsAsCustomer, 10);
    }

    public long reduced(long cents, int percent) {
        return cents - cents * percent / 100;
    }
}
