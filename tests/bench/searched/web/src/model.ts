export interface Line {
  sku: string;
  cents: number;
  grams: number;
  quantity: number;
}

export interface Voucher {
  code: string;
  percent: number;
}

export interface Product {
  title: string;
  cents: number;
  stock: number;
  tags: string[];
  added: number;
}

export interface Notice {
  level: "info" | "warning";
  text: string;
  read: boolean;
}
