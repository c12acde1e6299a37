/** What an administrator does with users. */
export class UserTable {
  constructor(private users: { name: string; role: string; seen: number }[]) {}

  withRole(role: string): string[] {
    return this.users.filter((user) => user.role === role).map((user) => user.name);
  }

  promote(name: string): void {
    const user = this.users.find((each) => each.name === name);
    if (user) {
      user.role = "admin";
    }
  }

  inactive(since: number): string[] {
    return this.users.filter((user) => user.seen < since).map((user) => user.name);
  }
}
