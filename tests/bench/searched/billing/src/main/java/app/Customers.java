package app;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Who is billed. */
public class Customers {
    private final Map<String, String> names = new TreeMap<>();

    public void register(String number, String name) {
        names.put(number, name.strip());
    }

    public Optional<String> nameOf(String number) {
        return Optional.ofNullable(names.get(number));
    }

    public int count() {
        return names.size();
    }
}
