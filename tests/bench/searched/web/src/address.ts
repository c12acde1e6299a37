/** Postal addresses of customers. */
export class Address {
  constructor(readonly street: string, readonly postcode: string, readonly town: string, readonly country = "DE") {}

  isComplete(): boolean {
    return Boolean(this.street && this.postcode && this.town);
  }

  lines(): string[] {
    return [this.street, `${this.postcode} ${this.town}`, this.country];
  }

  equals(other: Address): boolean {
    return this.lines().join("\n") === other.lines().join("\n");
  }
}
