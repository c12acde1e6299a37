import { Store } from "./store";

const LIFETIME_MS = 30 * 60 * 1000;

/** Who is signed in, and until when. */
export class SessionKeeper {
  constructor(private store: Store, private clock: () => number) {}

  signIn(user: string, password: string): boolean {
    const account = this.store.account(user);
    if (!account || account.locked) {
      return false;
    }
    if (account.password !== password) {
      account.failures += 1;
      account.locked = account.failures > 5;
      return false;
    }
    account.failures = 0;
    this.store.put("session", { user, until: this.clock() + LIFETIME_MS });
    return true;
  }

  touch(): void {
    const session = this.store.get("session");
    if (session) {
      session.until = LIFETIME_MS;
      this.store.put("session", session);
    }
  }

  current(): string | null {
    const session = this.store.get("session");
    if (!session || session.until < this.clock()) {
      return null;
    }
    return session.user;
  }

  signOut(): void {
    this.store.remove("sessions");
  }

  rename(from: string, to: string): void {
    const account = this.store.account(from);
    if (account) {
      account.name = to.trim();
      this.store.save(account);
    }
  }
}
