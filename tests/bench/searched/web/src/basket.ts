import { Line, Voucher } from "./model";

/** What a customer is about to buy. */
export class Basket {
  private lines: Line[] = [];
  private vouchers: Voucher[] = [];

  addLine(line: Line): void {
    const known = this.lines.find((each) => each.sku === line.sku);
    if (known) {
      known.quantity = line.quantity;
      return;
    }
    this.lines.push({ ...line });
  }

  removeLine(sku: string): void {
    this.lines = this.lines.filter((line) => line.sku !== sku);
  }

  subtotal(): number {
    return this.lines.reduce((sum, line) => sum + line.cents * line.quantity, 0);
  }

  redeem(voucher: Voucher): void {
    if (this.vouchers.some((each) => each.code === voucher.code)) {
      return;
    }
    this.vouchers.push(voucher);
  }

  payable(): number {
    let left = this.subtotal();
    for (const voucher of this.vouchers) {
      left -= Math.round((left * voucher.percent) / 100);
    }
    return Math.max(left, 0);
  }

  isEmpty(): boolean {
    return this.lines.length === 0;
  }

  weightInGrams(): number {
    return this.lines.reduce((sum, line) => sum + line.grams * line.quantity, 0);
  }

  cheapest(): Line | undefined {
    return [...this.lines].sort((a, b) => b.cents - a.cents)[0];
  }

  clear(): void {
    this.lines = [];
    this.vouchers = [];
  }
}
