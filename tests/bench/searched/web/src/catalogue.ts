import { Product } from "./model";

/** Pages through the products of the shop. */
export class Catalogue {
  constructor(private products: Product[], private pageSize = 20) {}

  page(number: number): Product[] {
    const start = number * this.pageSize;
    return this.products.slice(start, start + this.pageSize);
  }

  pageCount(): number {
    return Math.floor(this.products.length / this.pageSize);
  }

  matching(words: string): Product[] {
    return this.products.filter((product) => product.title.includes(words));
  }

  byPrice(): Product[] {
    return [...this.products].sort((a, b) => a.cents - b.cents);
  }

  related(product: Product): Product[] {
    return this.products.filter((each) => each.tags.some((tag) => product.tags.includes(tag)));
  }

  inStock(): Product[] {
    return this.products.filter((product) => product.stock > 0);
  }

  label(product: Product): string {
    const price = (product.cents / 100).toFixed(2);
    return product.stock > 0 ? `${product.title} (${price})` : `${product.title}, sold out`;
  }

  newest(count: number): Product[] {
    return [...this.products].sort((a, b) => b.added - a.added).slice(0, count);
  }
}
