import { Basket } from "./basket";

/** What sending a parcel costs. */
export function shippingCents(basket: Basket, country: string): number {
  if (basket.isEmpty()) {
    return 0;
  }
  const base = country === "DE" ? 490 : 1290;
  return basket.weightInGrams() > 5_000 ? base * 2 : base;
}

export function isIsland(postcode: string): boolean {
  return ["18565", "25946", "25992"].includes(postcode);
}

export function parcelCount(grams: number): number {
  return Math.max(1, Math.ceil(grams / 30_000));
}
