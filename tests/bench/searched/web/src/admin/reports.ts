/** Figures about the shop for its owners. */
export function revenue(orders: { cents: number; cancelled: boolean }[]): number {
  return orders.filter((order) => !order.cancelled).reduce((sum, order) => sum + order.cents, 0);
}

export function average(values: number[]): number {
  return values.length ? values.reduce((a, b) => a + b, 0) / values.length : 0;
}

export function topSellers(sold: Map<string, number>, count: number): string[] {
  return [...sold].sort((a, b) => b[1] - a[1]).slice(0, count).map(([sku]) => sku);
}
