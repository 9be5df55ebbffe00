// Prices and times of listings in words.

const DAY_MS = 86_400_000

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })

export const priceOf = (cents: number): string =>
  cents === 0 ? 'free' : DOLLARS.format(cents / 100).replace(/\.00$/, '')

export function daysLeft(expiresAt: Date, now: Date): string {
  const days = Math.floor((expiresAt.getTime() - now.getTime()) / DAY_MS)
  if (days < 1) return 'ends within a day'
  return days === 1 ? '1 day left' : `${days} days left`
}
