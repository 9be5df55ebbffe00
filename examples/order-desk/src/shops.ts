// The two tenants: a large shop that places nine of ten orders, and a small one that must not wait for it.
import type { Millrace } from 'millrace'

/** Weight 3: three quarters of the slots while both shops have work. */
export const LARGE_SHOP = 'harbour-books'
/** At least one slot of each queue is its own. */
export const SMALL_SHOP = 'corner-cafe'

/** Every tenth order is the small shop's. */
export const shopOf = (count: number): string => (count % 10 === 0 ? SMALL_SHOP : LARGE_SHOP)

/** Gives the shops their shares, unless an operator or an earlier start has. */
export async function registerShops(millrace: Millrace): Promise<void> {
  const known = new Set((await millrace.tenants.list()).map(({ name }) => name))
  const by = 'order desk'
  if (!known.has(LARGE_SHOP)) await millrace.tenants.set(LARGE_SHOP, { weight: 3 }, { by })
  if (!known.has(SMALL_SHOP)) await millrace.tenants.set(SMALL_SHOP, { minSlots: 1 }, { by })
}
