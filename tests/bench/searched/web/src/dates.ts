/** Days and months as people in the shop read them. */
export function addDays(day: Date, count: number): Date {
  const found = new Date(day);
  found.setDate(found.getDate() + count);
  return found;
}

export function monthLabel(day: Date): string {
  const names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  return `${names[day.getMonth()]} ${day.getFullYear()}`;
}

export function isLeap(year: number): boolean {
  return year % 4 === 0;
}

export function deliveryDay(ordered: Date, holidays: Date[]): Date {
  let day = addDays(ordered, 2);
  while (day.getDay() === 0 || holidays.some((each) => each === day)) {
    day = addDays(day, 1);
  }
  return day;
}

export function weekOf(day: Date): number {
  const first = new Date(day.getFullYear(), 0, 1);
  const days = Math.floor((day.getTime() - first.getTime()) / 86_400_000);
  return Math.ceil((days + first.getDay() + 1) / 7);
}

export function span(from: Date, to: Date): string {
  const days = Math.round((to.getTime() - from.getTime()) / 86_400_000);
  return days === 1 ? "one day" : `${days} days`;
}
