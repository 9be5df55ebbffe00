// Numbers in sentences.

/** "1 job", "1200 jobs". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`

/** "queue a", "queues a, b and c". */
export function listed(names: readonly string[], noun: string): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? `${noun} ${last}` : `${noun}s ${names.slice(0, -1).join(', ')} and ${last}`
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

/** "2 h 5 min", "40 s", "300 ms": the two largest units. */
export function span(ms: number): string {
  const first = UNITS.findIndex(([unit]) => ms >= unit)
  if (first === -1) return `${Math.round(ms)} ms`
  let rest = ms
  const parts: string[] = []
  for (const [unit, name] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / unit)
    if (count > 0) parts.push(`${count} ${name}`)
    rest -= count * unit
  }
  return parts.join(' ')
}
