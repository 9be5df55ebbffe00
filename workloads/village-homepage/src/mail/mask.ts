// Buyer and seller write to each other by masked addresses, and learn no real one: not from headers, nor from quoted text.

/** A real address, and what stands for it. */
export interface Mask {
  readonly real: string
  readonly masked: string
}

export const maskedAddress = (token: string, domain: string): string => `m-${token}@${domain}`

/** Every occurrence, in whatever case it is written. */
export function masked(text: string, masks: readonly Mask[]): string {
  return masks.reduce((result, { real, masked: stand }) => result.replace(pattern(real), stand), text)
}

const pattern = (address: string): RegExp => new RegExp(address.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'), 'giu')
