package app;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Bills as tables for the accountants. */
public class Exporter {
    private static final String SEPARATOR = ";";

    public void write(Path target, List<Invoice> invoices) throws IOException {
        BufferedWriter writer = Files.newBufferedWriter(target, Charset.defaultCharset());
        for (Invoice invoice : invoices) {
            writer.write(row(invoice));
            writer.newLine();
        }
    }

    public String row(Invoice invoice) {
        return String.join(SEPARATOR, money(invoice.net()), money(invoice.tax()), money(invoice.gross()));
    }

    public String money(long cents) {
        return cents / 100 + "," + cents % 100;
    }

    public String quoted(String text) {
        return '"' + text + '"';
    }
}
