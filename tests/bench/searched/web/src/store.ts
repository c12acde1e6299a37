/** Values that the browser keeps, and the accounts of the server. */
export class Store {
  private values = new Map<string, any>();
  private accounts = new Map<string, any>();

  get(key: string): any {
    return this.values.get(key) ?? null;
  }

  put(key: string, value: unknown): void {
    this.values.set(key, value);
  }

  remove(key: string): void {
    this.values.delete(key);
  }

  account(user: string): any {
    return this.accounts.get(user.toLowerCase()) ?? null;
  }

  save(account: { name: string }): void {
    this.accounts.set(account.name.toLowerCase(), account);
  }
}
